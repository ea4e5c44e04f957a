"""Two of everybody at the same entries and files: builders, releasers, senders, and those who take
back or hold."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import partial
from threading import Event

import pytest

from common import database_clock
from networks.ach import building, freezing, releasing
from networks.ach.errors import FileInAnotherStatus, FileIsGoing
from networks.ach.models import AchEntry, OutFile
from networks.ach.sending import send_next
from networks.base import Accepted, InstructionConflict, Withdrawal
from tests.networks.ach import life
from tests.networks.ach.builders import (
    BANK,
    FREEZE,
    NOON,
    RAIL,
    instruction,
    make_files,
    make_originator,
    make_rail,
    take_some,
)
from tests.networks.ach.folder import Folder
from tests.races.together import rounds, together

WORKERS = 6
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(entries_per_file_max=7, entries_per_batch_max=3)
    make_originator()


def errors(outcomes):
    return [each for each in outcomes if isinstance(each, Exception)]


@rounds(4)
def test_one_instruction_is_one_entry(round_):
    one = instruction(id="ftx_1")

    def submit(worker):
        asked = one if worker % 2 else replace(one, amount=99)
        return BANK.submit_many([asked], now=NOON)["ftx_1"]

    kinds = Counter(type(each) for each in race(submit))

    assert AchEntry.objects.count() == 1
    assert kinds == {Accepted: WORKERS // 2, InstructionConflict: WORKERS // 2}


@rounds(4)
def test_the_same_instructions_in_any_order_wait_for_each_other(round_):
    many = [instruction(id=f"ftx_{number}") for number in range(40)]

    answers = race(lambda worker: BANK.submit_many(many[:: (-1) ** worker], now=NOON))

    assert errors(answers) == []
    assert all(each == answers[0] for each in answers)
    assert AchEntry.objects.count() == 40


@rounds(4)
def test_builders_put_each_entry_into_one_file(round_, tmp_path):
    take_some(40)

    def work(_worker):
        freezing.freeze_due(RAIL, now=FREEZE)
        while building.build_next(RAIL, now=FREEZE):
            pass

    assert errors(race(work)) == []
    assert AchEntry.objects.filter(status="frozen").count() == 40
    assert sum(OutFile.objects.values_list("entry_count", flat=True)) == 40
    assert set(OutFile.objects.values_list("status", flat=True)) == {"built"}
    assert AchEntry.objects.values("trace_number").distinct().count() == 40


@rounds(4)
def test_a_withdrawal_and_a_freeze_agree_about_every_entry(round_):
    rows = take_some(30)

    def work(worker):
        if worker % 2:
            return freezing.freeze_due(RAIL, now=FREEZE)
        mine = rows[worker // 2 :: WORKERS // 2]
        return {each.pk: BANK.withdraw(each.instruction_id, now=NOON) for each in mine}

    outcomes = race(work)

    assert errors(outcomes) == []
    answers = {pk: answer for found in outcomes[::2] for pk, answer in found.items()}
    for row in AchEntry.objects.all():
        is_back = answers[row.pk] == Withdrawal.WITHDRAWN
        assert row.status == ("withdrawn" if is_back else "frozen")
    in_files = sum(OutFile.objects.values_list("entry_count", flat=True))
    assert in_files == AchEntry.objects.filter(status="frozen").count()


@rounds(4)
def test_of_several_second_releasers_one_releases(round_):
    (file,) = make_files(1)
    releasing.release_first(file.pk, by="first@ballast.example", now=FREEZE)

    outcomes = race(
        lambda worker: releasing.release(
            file.pk, by=f"person{worker}@ballast.example", total=1_234, now=FREEZE
        )
    )

    refused = errors(outcomes)
    assert {type(each) for each in refused} == {FileInAnotherStatus}
    assert len(refused) == WORKERS - 1


@rounds(4)
def test_of_several_first_releasers_one_is_the_first(round_):
    (file,) = make_files(1)

    outcomes = race(
        lambda worker: releasing.release_first(
            file.pk, by=f"person{worker}@ballast.example", now=FREEZE
        )
    )

    refused = errors(outcomes)
    assert {type(each) for each in refused} == {FileInAnotherStatus}
    assert len(refused) == WORKERS - 1
    (first,) = (each for each in outcomes if each not in refused)
    assert OutFile.objects.get().first_released_by == first.first_released_by


@rounds(4)
def test_a_release_and_a_hold_agree(round_):
    (file,) = make_files(1)
    releasing.release_first(file.pk, by="first@ballast.example", now=FREEZE)

    def work(worker):
        if worker % 2:
            return releasing.hold(file.pk, by="eve@ballast.example", why="Stop", now=FREEZE)
        return releasing.release(file.pk, by="bob@ballast.example", total=1_234, now=FREEZE)

    outcomes = race(work)

    # One of each gets through at most, and whichever was first, somebody held it at last.
    assert {type(each) for each in errors(outcomes)} == {FileInAnotherStatus}
    assert len(errors(outcomes[::2])) >= WORKERS // 2 - 1
    assert len(errors(outcomes[1::2])) == WORKERS // 2 - 1
    assert OutFile.objects.get().status == "held"


@rounds(4)
def test_senders_and_holders_agree(round_, tmp_path):
    make_rail(dual_release=False)
    (file,) = make_files(1)
    is_going = Event()

    def slowly(step):
        if step == "noted":
            is_going.set()
        time.sleep(0.05)

    folder = Folder(tmp_path, fails=slowly)

    def work(worker):
        with database_clock.at(FREEZE):
            if worker % 3:
                return send_next(RAIL, folder, now=FREEZE)
            if worker or round_ % 2:  # one of them comes while a worker sends, or was too late
                is_going.wait(2)
            return releasing.hold(file.pk, by="eve@ballast.example", why="x", now=FREEZE)

    outcomes = race(work)

    status = OutFile.objects.get().status
    assert {type(each) for each in errors(outcomes)} <= {FileIsGoing, FileInAnotherStatus}
    assert (status, len(folder.names())) in {("sent", 1), ("held", 0)}
    if status == "sent":
        life.assert_each_went_once(folder)
