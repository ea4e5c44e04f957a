"""SIGKILL to workers between a cut-off and the bank: each entry gets there once."""

from __future__ import annotations

import random
import signal
import time

import pytest

from networks.ach.models import AchEntry, AchEvent, OutFile
from tests.networks.ach import life
from tests.networks.ach.builders import make_originator, make_rail
from tests.networks.ach.folder import Folder
from tests.scenarios import ach_worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

WORKERS, KILLS, ROUNDS_MAX = 3, 36, 10


def test_workers_who_are_killed_again_and_again(tmp_path):
    make_rail(entries_per_file_max=6, entries_per_batch_max=2)
    make_originator()
    life.hire()
    chance = random.Random(7)
    # What a death leaves to its successors is theirs at once, but for a file that it had claimed.
    # A round of deaths hits that step three times on average, and one round in twenty never.
    for _ in range(ROUNDS_MAX):
        kill_again_and_again(tmp_path, chance)
        if left := OutFile.objects.exclude(status="acknowledged").count():
            break

    folder = Folder(tmp_path)
    life.go_through(folder, after_leases=True)

    assert left > 0
    life.assert_each_went_once(folder)
    assert set(AchEntry.objects.values_list("status", flat=True)) == {"final"}
    assert AchEvent.objects.count() == 3 * AchEntry.objects.count()
    assert len(folder.names()) == OutFile.objects.count()


def kill_again_and_again(folder, chance):
    """Kill one of the workers at a moment of chance and start another, so many times; all in the
    end."""
    workers = [ach_worker.start(folder) for _ in range(WORKERS)]
    try:
        wait_for_files(folder, 1)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.0, 0.4))
            place = chance.randrange(WORKERS)
            workers[place].kill()
            assert workers[place].wait() == -signal.SIGKILL
            workers[place] = ach_worker.start(folder)
            wait_for_files(folder, len(list(folder.iterdir())) + 1)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def wait_for_files(folder, count):
    """Until the bank has so many: then every worker is at work again, or the others are."""
    for _ in range(600):
        if len(list(folder.iterdir())) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("nothing is sent any more")
