"""The database connection ends at any call on the way of ACH entries to the bank and back: the next
run goes on, and the bank gets each entry once."""

from __future__ import annotations

import pytest
from django.db import Error as DatabaseProblem
from django.db import connection

from common import ids
from networks.ach.models import AchEntry, AchEvent, OutFile
from tests.crashes import bomb as bombs
from tests.crashes.bomb import Moment
from tests.networks.ach import life
from tests.networks.ach.builders import make_originator, make_rail, take
from tests.networks.ach.folder import Folder
from tests.samples import by_day

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

STEP = 9


@pytest.fixture(autouse=True)
def _bank():
    make_rail(entries_per_file_max=3, entries_per_batch_max=2)
    make_originator()
    life.hire()


@pytest.fixture
def bomb():
    with bombs.planted() as planted:
        yield planted


def one_life(folder, bomb, at, moment=Moment.BEFORE):
    """Take five entries through everything, with one death; returns how many calls there were."""
    entries = [life.an_instruction(ids.new("ftx")) for _ in range(5)]
    take(*entries)
    with bomb.armed(at=at, moment=moment):
        try:
            life.go_through(folder)
        except DatabaseProblem:
            connection.close()
    life.go_through(folder, after_leases=True)
    life.assert_each_went_once(folder)
    return bomb.calls


def deaths(folder, bomb, *, step, first=1):
    calls = one_life(folder, bomb, at=None)
    assert calls > 50
    points = 0
    for moment in Moment:
        for at in range(first, calls + 1, step):
            one_life(folder, bomb, at, moment)
            points += bomb.has_gone_off
    assert points > 2 * (calls - first) // step * 0.9
    assert AchEntry.objects.exclude(status="final").count() == 0
    assert AchEvent.objects.count() == 3 * AchEntry.objects.count()
    assert set(OutFile.objects.values_list("status", flat=True)) == {"acknowledged"}


def test_some_deaths(tmp_path, bomb):
    deaths(Folder(tmp_path), bomb, step=4 * STEP)


@pytest.mark.slow
@pytest.mark.parametrize("first", by_day(range(1, STEP + 1), {2, 5, 8}))
def test_all_deaths(tmp_path, bomb, first):
    deaths(Folder(tmp_path), bomb, step=STEP, first=first)
