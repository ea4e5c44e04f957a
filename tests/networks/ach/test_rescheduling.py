"""Whoever was promised a day is told of a later one before the first has come."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from networks.ach import acknowledging, freezing, promises, releasing, switches
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry, AchEvent, OutFile
from networks.ach.models.rails import RailPart
from networks.ach.sending import send_next
from networks.base import Speed
from tests.networks.ach.builders import (
    BANK,
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

EVENING = CUTOFF + timedelta(hours=5, minutes=40)  # five minutes before the last cut-off of Tuesday
WEDNESDAY_MORNING = datetime(2026, 11, 25, 14, 50, tzinfo=UTC)
TUESDAY, WEDNESDAY, FRIDAY = date(2026, 11, 24), date(2026, 11, 25), date(2026, 11, 27)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(dual_release=False)


def told():
    found = AchEvent.objects.filter(kind="rescheduled").order_by("id")
    return list(found.values_list("instruction_id", "settlement_date"))


def test_nobody_whose_entry_goes_as_promised():
    make_originator()
    take_some(3)
    freezing.freeze_due(RAIL, now=FREEZE)

    assert AchEntry.objects.filter(status="frozen").count() == 3
    assert told() == []


def test_who_asked_for_the_same_day_too_late():
    make_originator()
    take(instruction(id="fast", speed=Speed.SAME_DAY), instruction(id="slow"))
    freezing.freeze_due(RAIL, now=EVENING)

    assert told() == [("fast", WEDNESDAY)]
    (event,) = BANK.poll(now=EVENING, limit=9)
    assert (event.kind, event.settlement_date, event.trace_number) == ("rescheduled", WEDNESDAY, "")
    assert event.reference == AchEntry.objects.get(instruction_id="fast").reference


def test_whoever_waits_for_a_limit_once_a_day():
    """At the last cut-off of a day the next one is of the next day."""
    make_originator(exposure_max=1_500)
    first, second = take_some(2)
    freezing.freeze_due(RAIL, now=FREEZE)
    assert told() == []

    freezing.freeze_due(RAIL, now=EVENING)
    freezing.freeze_due(RAIL, now=EVENING + timedelta(minutes=1))
    assert told() == [(second.instruction_id, FRIDAY)]

    freezing.freeze_due(RAIL, now=WEDNESDAY_MORNING)
    assert told() == [(second.instruction_id, FRIDAY)]
    second.refresh_from_db()
    assert (second.status, second.promised_on, second.waits_for) == ("waiting", FRIDAY, "exposure")
    first.refresh_from_db()
    assert first.promised_on == WEDNESDAY


def test_whose_file_nobody_released_in_time():
    make_originator()
    make_files(2, now=EVENING)
    releasing.give_up_missed(RAIL, now=EVENING + timedelta(minutes=15))
    assert told() == []

    freezing.freeze_due(RAIL, now=WEDNESDAY_MORNING)
    assert [day for _, day in told()] == [FRIDAY, FRIDAY]


def test_whose_file_came_late_to_the_bank(tmp_path):
    make_originator()
    (file,) = make_files(1)
    OutFile.objects.update(temporary_name=".x.part")  # it may be there: it is not taken apart
    late = FREEZE + timedelta(days=1)
    send_next(RAIL, Folder(tmp_path), now=late)
    acknowledging.acknowledged(
        file.pk, verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}, now=late
    )

    row = AchEntry.objects.get()
    assert told() == [(row.instruction_id, FRIDAY)]
    assert (row.promised_on, row.settlement_date) == (FRIDAY, FRIDAY)


def test_nobody_of_a_day_that_will_not_come():
    make_originator()
    (row,) = take(instruction(speed=Speed.SAME_DAY))
    freezing.freeze_due(RAIL, now=EVENING)
    releasing.take_out(row.instruction_id, by="usr_ada", why="wrong", now=EVENING)
    BANK.withdraw(row.instruction_id, now=EVENING)

    kinds = [event.kind for event in BANK.poll(now=EVENING, limit=9)]
    assert kinds == ["rejected"]


THURSDAY_CLOSED = datetime(2026, 11, 26, 15, 0, tzinfo=UTC)  # Thanksgiving


def test_whoever_waits_while_building_is_stopped():
    make_originator()
    (entry,) = take_some(1)
    stop = switches.engage(
        rail=RAIL, part=RailPart.BUILDING, reason="a drill", by="usr_ann", now=FREEZE
    )
    assert promises.tell_late(RAIL, now=FREEZE) == 0

    assert promises.tell_late(RAIL, now=WEDNESDAY_MORNING) == 1
    assert promises.tell_late(RAIL, now=WEDNESDAY_MORNING) == 0
    assert told() == [(entry.instruction_id, FRIDAY)]
    (event,) = BANK.poll(now=WEDNESDAY_MORNING, limit=9)
    assert (event.kind, event.reference) == ("rescheduled", entry.reference)

    switches.release(switch_id=stop.pk, reason="over", by="usr_bo", now=WEDNESDAY_MORNING)
    assert promises.tell_late(RAIL, now=THURSDAY_CLOSED) == 0
    freezing.freeze_due(RAIL, now=WEDNESDAY_MORNING)
    assert told() == [(entry.instruction_id, FRIDAY)]


def test_whoever_is_in_a_file_that_is_held_past_its_cutoff():
    make_originator()
    (file,) = make_files(2)
    releasing.hold(file.pk, by="usr_ann", why="ask first", now=FREEZE)
    assert promises.tell_late(RAIL, now=FREEZE) == 0

    assert promises.tell_late(RAIL, now=WEDNESDAY_MORNING) == 2

    assert [day for _, day in told()] == [FRIDAY, FRIDAY]
    assert set(AchEntry.objects.values_list("status", "promised_on")) == {("frozen", FRIDAY)}
    assert promises.tell_late(RAIL, now=WEDNESDAY_MORNING) == 0
