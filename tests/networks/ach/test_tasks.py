"""The sweeps, as beat runs them."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from structlog.testing import capture_logs

from common import database_clock
from networks.ach import tasks
from networks.ach.models import (
    AchEntry,
    AchReply,
    InFile,
    InRecord,
    OutFile,
    RailLine,
    RailVersion,
)
from tests.networks.ach.builders import (
    CUTOFF,
    FREEZE,
    make_originator,
    make_rail,
    take_some,
    the_file,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(dual_release=False)
    make_originator()


def at(moment, *sweeps):
    with time_machine.travel(moment, tick=False), database_clock.at(moment):
        for sweep in sweeps:
            sweep()


def test_a_day_of_an_entry_whose_bank_is_not_connected():
    take_some(2)

    with capture_logs() as logs:
        at(FREEZE, tasks.make_files, tasks.make_files, tasks.send_files, tasks.watch_files)
        assert (the_file().status, the_file().entry_count) == ("released", 2)

        at(CUTOFF, tasks.make_files, tasks.send_files, tasks.watch_files)
    said = [line["event"] for line in logs if line["event"].startswith("ach_")]

    assert said == ["ach_file_stuck", "ach_file_missed_cutoff"]
    assert set(AchEntry.objects.values_list("status", "missed")) == {("waiting", 1)}


def unreadable(rail, *, number, status):
    version = RailVersion.objects.get(rail_id=rail, number=1)
    return RailVersion.objects.create(
        rail_id=rail,
        number=number,
        terms=version.terms | {"company_name": "lower case"},
        status=status,
        proposed_by="a",
        proposed_at=FREEZE - timedelta(days=1),
        decided_by="b",
        decided_at=FREEZE,
        reason="Test",
    )


def test_a_rail_whose_terms_cannot_be_read_stops_no_other():
    make_rail("other_bank")
    take_some(1)
    RailVersion.objects.filter(rail_id="other_bank").update(status="superseded")
    unreadable("other_bank", number=2, status="current")

    at(FREEZE, tasks.make_files)

    assert the_file().status == "released"


def test_a_rail_whose_file_cannot_be_sent_stops_no_other(log):
    make_rail("a_bank")
    theirs = OutFile.objects.create(
        rail_id="a_bank",
        version=unreadable("a_bank", number=2, status="superseded"),
        immediate_origin="1234567890",
        file_date=FREEZE.date(),
        file_time=FREEZE.time(),
        modifier="Z",
        cutoff_at=CUTOFF,
        status="building",
        created_at=FREEZE,
    )
    mine = OutFile.objects.filter(pk=theirs.pk)
    mine.update(status="built", built_at=FREEZE, built_by="system", size=1, sha256="0" * 64)
    mine.update(status="released", released_at=FREEZE, released_how="rule", next_attempt_at=FREEZE)
    take_some(1)
    at(FREEZE, tasks.make_files, tasks.send_files)

    assert OutFile.objects.get(rail_id="first_bank").stuck_code == "not_connected"
    assert log.of("ach_files_not_sent")


def test_a_rail_whose_line_fails_stops_no_other(log):
    make_rail("a_bank")
    RailLine.objects.filter(pk="a_bank").update(next_attempt_at=FREEZE, lease_version=2**31 - 1)

    at(FREEZE, tasks.fetch_files)

    assert RailLine.objects.filter(pk="first_bank", next_attempt_at__gt=FREEZE).exists()
    assert log.of("ach_files_not_fetched")


def test_a_rail_whose_replies_cannot_be_read_stops_no_other(log):
    make_rail("a_bank")
    file = InFile.objects.create(
        rail_id="a_bank", folder="inbound", name="r.ach", size=1, chunk_count=1, received_at=FREEZE
    )
    record = InRecord.objects.create(
        file=file,
        rail_id="a_bank",
        line=1,
        kind="return",
        raw_token="no token of ours",
        received_at=FREEZE,
    )
    AchReply.objects.create(
        rail_id="a_bank",
        record=record,
        kind="dishonor",
        code="R61",
        due_on=FREEZE.date(),
        decided_by="anna",
        decided_at=FREEZE,
        decided_why="Not ours",
    )
    take_some(1)

    at(FREEZE, tasks.make_files)

    assert the_file().status == "released"
    assert log.of("ach_replies_not_frozen")
