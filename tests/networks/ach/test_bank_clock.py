"""A bank whose days pass in seconds: its files are dated by its clock, and our rows by ours."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from networks.ach import bank_clock, building, freezing, schedule
from networks.ach.acknowledging import acknowledged
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound.deadlines import eastern_day
from networks.ach.models import AchEntry, AchEvent, OutFile
from networks.ach.rails import current
from networks.ach.sending import send_next
from tests.networks.ach.builders import NOON, RAIL, make_originator, make_rail, take_some
from tests.networks.ach.folder import Folder

DAY = timedelta(seconds=5)
SATURDAY = datetime(2026, 11, 28, 17, 0, tzinfo=UTC)


@pytest.fixture
def ahead(settings, tmp_path):
    """Lets the bank's clock say that it is ahead by so much."""

    def ahead(by=timedelta(0), *, day=DAY):
        path = tmp_path / "clock.json"
        told = {"ahead_seconds": by.total_seconds(), "day_seconds": day.total_seconds()}
        path.write_text(json.dumps(told))
        settings.ACH_BANK_CLOCK = str(path)

    return ahead


class TestDueHere:
    def test_is_the_banks_instant_where_its_clock_is_ours(self):
        assert bank_clock.due_here(NOON, SATURDAY, until_heard=True) == NOON

    def test_is_the_banks_instant_until_the_bank_has_run(self, settings, tmp_path):
        settings.ACH_BANK_CLOCK = str(tmp_path / "nothing.json")

        assert bank_clock.due_here(NOON, SATURDAY) == NOON
        assert bank_clock.at_bank(NOON) == NOON

    def test_is_soon_at_a_bank_that_hurries(self, ahead):
        ahead(timedelta(days=7))
        # Two banking days after the bank's own Saturday.
        instant = SATURDAY + timedelta(days=7 + 3)

        assert bank_clock.due_here(instant, SATURDAY) == SATURDAY + 2 * DAY
        heard = bank_clock.due_here(instant, SATURDAY, until_heard=True)
        assert heard - (SATURDAY + 2 * DAY) > timedelta(seconds=8)

    def test_is_never_over(self, ahead):
        ahead(timedelta(days=7))

        assert bank_clock.due_here(SATURDAY, SATURDAY) == SATURDAY

    def test_is_earlier_by_what_a_bank_that_takes_its_time_is_ahead(self, ahead):
        ahead(timedelta(days=1), day=timedelta(0))

        assert bank_clock.due_here(SATURDAY + timedelta(days=3), SATURDAY) == (
            SATURDAY + timedelta(days=2)
        )


@pytest.mark.django_db(transaction=True)
class TestFiles:
    @pytest.fixture(autouse=True)
    def _rail(self):
        make_rail(dual_release=False)
        make_originator()

    def test_are_made_at_any_hour_and_leave_time_for_people(self, ahead):
        ahead()
        terms = current(RAIL).parsed

        window = schedule.open_window(terms, SATURDAY)

        assert window is not None
        assert window.day == date(2026, 11, 30)
        assert window.frozen_from <= SATURDAY
        assert window.cutoff_at > SATURDAY + timedelta(minutes=20)
        assert schedule.next_window(terms, SATURDAY).frozen_from > SATURDAY
        assert len(schedule.day_windows(terms, SATURDAY)) == 1

    def test_are_dated_by_the_bank_and_told_of_by_us(self, ahead, tmp_path):
        take_some(1, now=SATURDAY)
        later = SATURDAY + timedelta(seconds=10)
        ahead(timedelta(days=30))  # December 28, a Monday
        (file_id,) = freezing.freeze_due(RAIL, now=later)
        assert building.build(file_id, now=later)
        file = OutFile.objects.get()
        assert (file.faults, file.status) == ([], "released")
        assert file.file_date == eastern_day(later) == date(2026, 12, 28)
        assert file.created_at == later
        entry = AchEntry.objects.get()
        assert entry.effective_date == date(2026, 12, 29)

        send_next(RAIL, Folder(tmp_path), now=later)
        acknowledged(
            file_id,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            settles={1: date(2026, 12, 31)},
            now=later,
        )

        told = AchEvent.objects.order_by("due_at", "pk").values_list("kind", "settlement_date")
        assert list(told) == [
            ("rescheduled", date(2026, 12, 29)),
            ("rescheduled", date(2026, 12, 31)),
            ("accepted", date(2026, 12, 31)),
            ("settled", date(2026, 12, 31)),
            ("final", date(2026, 12, 31)),
        ]
        assert AchEvent.objects.latest("due_at").due_at < later + timedelta(minutes=1)


class TestShown:
    def test_is_nothing_where_banks_have_our_time(self):
        assert bank_clock.shown(NOON) is None
        assert bank_clock.here(NOON) == NOON

    def test_is_the_banks_time_and_its_instants_are_earlier_here(self, ahead):
        ahead(timedelta(days=7))

        assert bank_clock.shown(NOON) == NOON + timedelta(days=7)
        assert bank_clock.here(NOON + timedelta(days=7)) == NOON
