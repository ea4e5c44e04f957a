"""Who lets a file go, who keeps it, and what becomes of one that nobody released."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from structlog.testing import capture_logs

from common.database import job_doors, jobs
from networks.ach import building, errors, freezing, releasing
from networks.ach.models import AchEntry, OutFile
from networks.ach.releasing import hold, release, release_first, unhold
from tests.networks.ach.builders import (
    BANK,
    CUTOFF,
    FREEZE,
    NOON,
    RAIL,
    instruction,
    make_originator,
    make_rail,
    take,
    take_some,
    the_file,
)

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, EVE = "ada@ballast.example", "bob@ballast.example", "eve@ballast.example"


@pytest.fixture(autouse=True)
def _bank():
    make_rail()
    make_originator()


def built(*, by="system", count=3, now=FREEZE) -> OutFile:
    take_some(count)
    (file_id,) = freezing.freeze_due(RAIL, now=now)
    assert building.build(file_id, now=now, by=by)
    return OutFile.objects.get(pk=file_id)


class TestRelease:
    def test_takes_two_people_and_the_total(self):
        file = built()

        release_first(file.pk, by=ADA, now=FREEZE)
        release(file.pk, by=BOB, total=3 * 1_234, now=FREEZE)

        file.refresh_from_db()
        assert (file.status, file.first_released_by, file.released_by, file.released_how) == (
            "released",
            ADA,
            BOB,
            "people",
        )
        assert file.next_attempt_at == FREEZE

    def test_by_one_person_alone_is_refused(self):
        file = built()

        with pytest.raises(errors.ReleasedByOne):
            release(file.pk, by=ADA, total=3_702, now=FREEZE)
        release_first(file.pk, by=ADA, now=FREEZE)
        with pytest.raises(errors.ReleasedByOne):
            release(file.pk, by=ADA, total=3_702, now=FREEZE)
        with pytest.raises(errors.FileInAnotherStatus):
            release_first(file.pk, by=EVE, now=FREEZE)

    def test_with_another_total_is_refused(self):
        file = built()
        release_first(file.pk, by=ADA, now=FREEZE)

        with pytest.raises(errors.OtherTotal):
            release(file.pk, by=BOB, total=3_703, now=FREEZE)
        assert the_file().status == "built"

    def test_by_who_built_it_is_refused(self):
        file = built(by=ADA)

        with pytest.raises(errors.BuilderMayNotRelease):
            release_first(file.pk, by=ADA, now=FREEZE)
        release_first(file.pk, by=BOB, now=FREEZE)
        with pytest.raises(errors.BuilderMayNotRelease):
            release(file.pk, by=ADA, total=3_702, now=FREEZE)

    @pytest.mark.parametrize(
        ("terms", "expected"),
        [
            ({"auto_release_below": 3_703}, ("released", "below")),
            ({"auto_release_below": 3_702}, ("built", "")),
            ({"dual_release": False}, ("released", "rule")),
        ],
    )
    def test_by_the_rails_own_rule(self, terms, expected):
        make_rail(**terms)
        file = built()

        assert (file.status, file.released_how) == expected

    def test_in_the_names_of_people_is_refused_to_a_worker(self):
        file = built()

        with (
            pytest.raises(DatabaseError, match="permission denied"),
            job_doors.of(jobs.WORKER),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(
                "UPDATE ach_outfile SET status = 'released', released_how = 'people',"
                " first_released_by = %s, released_by = %s WHERE id = %s",
                [ADA, BOB, file.pk],
            )
        assert the_file().status == "built"

    def test_of_what_is_gone_is_refused(self):
        with pytest.raises(errors.FileNotThere):
            release_first("ofl_unknown", by=ADA, now=FREEZE)


class TestHold:
    def test_keeps_a_released_file_and_both_have_to_release_it_again(self):
        file = built()
        release_first(file.pk, by=ADA, now=FREEZE)
        release(file.pk, by=BOB, total=3_702, now=FREEZE)

        hold(file.pk, by=EVE, why="The bank called", now=FREEZE)
        assert the_file().next_attempt_at is None
        with pytest.raises(errors.FileInAnotherStatus):
            release_first(file.pk, by=ADA, now=FREEZE)

        unhold(file.pk)
        assert (the_file().status, the_file().first_released_by) == ("built", "")

    def test_comes_too_late_for_a_file_that_may_be_at_the_bank(self):
        make_rail(dual_release=False)
        file = built()
        OutFile.objects.update(temporary_name=".202611241345A.part")

        with pytest.raises(errors.FileIsGoing):
            hold(file.pk, by=EVE, why="Stop", now=FREEZE)
        with pytest.raises(errors.FileIsGoing):
            releasing.take_apart(file.pk, by=EVE, why="Stop", now=FREEZE)

    def test_of_a_file_with_faults_cannot_be_lifted(self):
        file = built()
        OutFile.objects.filter(pk=file.pk).update(
            status="held", held_at=NOON, held_why="x", faults=[{"line": 1}]
        )

        with pytest.raises(errors.FileHasFaults):
            unhold(file.pk)


class TestApart:
    def test_lets_the_entries_wait_for_the_next_file(self):
        file = built()
        traces = set(AchEntry.objects.values_list("trace_number", flat=True))

        releasing.take_apart(file.pk, by=ADA, why="Wrong day", now=FREEZE)

        assert set(AchEntry.objects.values_list("status", "trace_number", "missed")) == {
            ("waiting", "", 0)
        }
        freezing.freeze_due(RAIL, now=FREEZE + timedelta(minutes=1))
        assert the_file().entry_count == 3
        assert not traces & set(AchEntry.objects.values_list("trace_number", flat=True))

    def test_an_entry_is_taken_out_and_told(self):
        file = built()
        one = AchEntry.objects.earliest("pk").instruction_id

        releasing.take_out(one, by=ADA, why="The tenant asked", now=FREEZE)

        assert sorted(AchEntry.objects.values_list("status", flat=True)) == [
            "waiting",
            "waiting",
            "withdrawn",
        ]
        (event,) = BANK.poll(now=FREEZE, limit=5)
        assert (event.instruction_id, event.code) == (one, "withdrawn")
        file.refresh_from_db()
        assert (file.status, file.withdrawn_by) == ("withdrawn", ADA)

    def test_of_an_entry_that_is_in_no_file_is_refused(self):
        (row,) = take(instruction())

        for each in (row.instruction_id, "ftx_unknown"):
            with pytest.raises(errors.EntryNotInFile):
                releasing.take_out(each, by=ADA, why="x", now=FREEZE)


class TestMissed:
    def test_a_file_that_nobody_released_goes_at_the_next_cutoff_with_new_dates(self):
        built()
        assert releasing.give_up_missed(RAIL, now=CUTOFF - timedelta(seconds=1)) == []
        assert len(releasing.give_up_missed(RAIL, now=CUTOFF)) == 1

        evening = CUTOFF + timedelta(hours=5, minutes=40)
        freezing.freeze_due(RAIL, now=evening)

        file = the_file()
        assert (file.missed, file.entry_count) == (1, 3)
        assert {row.promised_on for row in AchEntry.objects.all()} == {date(2026, 11, 25)}

    def test_the_second_time_alarms(self):
        built()
        releasing.give_up_missed(RAIL, now=CUTOFF)
        evening = CUTOFF + timedelta(hours=5, minutes=40)
        freezing.freeze_due(RAIL, now=evening)
        building.build_next(RAIL, now=evening)
        releasing.give_up_missed(RAIL, now=evening + timedelta(hours=1))
        morning = FREEZE + timedelta(hours=20)

        with capture_logs() as logs:
            assert freezing.freeze_due(RAIL, now=morning)

        assert the_file().missed == 2
        assert ("ach_entries_missed_cutoffs", "error") in {
            (line["event"], line["log_level"]) for line in logs
        }

    def test_what_a_person_holds_stays(self):
        file = built()
        hold(file.pk, by=ADA, why="Wait", now=FREEZE)

        assert releasing.give_up_missed(RAIL, now=CUTOFF) == []
        assert the_file().status == "held"
