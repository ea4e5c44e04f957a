"""What those on call see of files to banks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from networks.ach import figures, freezing, releasing, switches
from networks.ach.models import Originator, OutFile
from networks.ach.models.rails import RailPart
from networks.ach.sending import send_next
from tests.networks.ach import life
from tests.networks.ach.builders import (
    CUTOFF,
    FREEZE,
    RAIL,
    instruction,
    make_files,
    make_originator,
    make_rail,
    take,
    take_some,
)
from tests.networks.ach.folder import Folder

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bank():
    make_rail()
    make_originator()


def now_at(now):
    return figures.on_the_way(now=now)


def test_a_quiet_day_has_nothing_to_show():
    make_files()

    assert now_at(FREEZE) == ({}, {}, 0, 0, {})


def test_entries_that_a_file_left_out_are_counted_by_why():
    Originator.objects.update(daily_debit_max=3_000)
    take(*(instruction(amount=1_000) for _ in range(5)))
    assert now_at(FREEZE).left_out == {}

    freezing.freeze_due(RAIL, now=FREEZE)
    assert now_at(FREEZE).left_out == {(RAIL, "daily_limit"): 2}

    freezing.freeze_due(RAIL, now=FREEZE + timedelta(days=1))
    assert now_at(FREEZE).left_out == {}


def test_what_is_stopped_is_counted_until_it_goes_on():
    engaged: dict[str, Any] = {"rail": RAIL, "reason": "drill", "by": "usr_ann", "now": FREEZE}
    stop = switches.engage(part=RailPart.SENDING, **engaged)
    switches.engage(part=RailPart.READING, **engaged)
    assert now_at(FREEZE).stopped == {(RAIL, "sending"): 1, (RAIL, "reading"): 1}

    switches.release(switch_id=stop.pk, reason="over", by="usr_ann", now=FREEZE)
    assert now_at(FREEZE).stopped == {(RAIL, "reading"): 1}


def test_a_file_alarms_whose_entries_missed_two_cutoffs():
    take_some(2)
    seen = []
    evening = CUTOFF + timedelta(hours=5, minutes=30)
    for freeze in (FREEZE, evening, FREEZE + timedelta(days=1)):
        freezing.freeze_due(RAIL, now=freeze)
        seen.append(now_at(freeze).late)
        releasing.give_up_missed(RAIL, now=freeze + timedelta(minutes=20))

    assert seen == [0, 0, 1]


@pytest.mark.parametrize("ack_format", ["jsonl", "none"])
def test_a_file_that_its_bank_should_have_answered_is_seen(tmp_path, ack_format):
    make_rail(ack_format=ack_format)
    (file,) = make_files()
    life.release(file, FREEZE)
    send_next(RAIL, Folder(tmp_path), now=FREEZE)
    due = OutFile.objects.get().acknowledgment_due_at
    assert due is not None

    assert now_at(due - timedelta(seconds=1)).unanswered == 0
    assert now_at(due).unanswered == (ack_format == "jsonl")
