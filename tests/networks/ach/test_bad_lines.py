"""What the sweeps do while the line to the stand-in bank, a process of its own, is bad."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from common.clock import utc_now
from networks.ach import freezing, key_slots, long_work, probing, sending, switches, tasks
from networks.ach.connecting import AtBank
from networks.ach.inbound import lines
from networks.ach.models import AchEntry, InFile, OutFile, RailLine
from networks.ach.sftp import delivery
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.networks.ach.builders import RAIL, account, instruction, take, take_some
from tests.networks.ach.standin import (
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    at,
    connect_rail,
    eastern,
    run,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SENDING = (tasks.send_files,)
FETCHING = (tasks.fetch_files, tasks.read_files)


@pytest.fixture
def rail(bank):  # noqa: F811
    connect_rail(bank, dual_release=False)
    return bank


@pytest.fixture
def file(rail):
    """A file that is released, of one debit that comes back."""
    entry = instruction(account=account("900010001"))
    take(entry, now=eastern(MONDAY, "09:00"))
    at(rail, MONDAY, "09:46", tasks.make_files)
    return OutFile.objects.get()


def taken(rail):
    """The names of what the bank took."""
    rail.ask("scan")
    return [each["name"] for each in rail.ask("files")]


def sends(minutes=0):
    run(eastern(MONDAY, "09:47") + timedelta(minutes=minutes), *SENDING)


class TestAWrongHostKey:
    def test_stops_everything_until_a_person_says_so(self, rail, file):
        rail.ask("fault", name="wrong_host_key", on=True)
        sends()
        run(eastern(MONDAY, "09:47"), *FETCHING)

        file.refresh_from_db()
        assert (file.stuck_code, file.next_attempt_at) == ("host_key_wrong", None)
        line = RailLine.objects.get()
        assert (line.trouble, line.trouble_since) == ("host_key_wrong", eastern(MONDAY, "09:47"))

        rail.ask("fault", name="wrong_host_key", on=False)
        sends(5)
        assert taken(rail) == []

        sending.try_again(file.pk, now=eastern(MONDAY, "09:52"))
        sends(6)
        assert taken(rail) == [file.remote_name]
        assert lines.try_again(RAIL, now=eastern(MONDAY, "09:53"))
        run(eastern(MONDAY, "09:53"), *FETCHING)
        line.refresh_from_db()
        assert (line.trouble, line.trouble_since, line.attempts) == ("", None, 0)
        assert AchEntry.objects.get().status == "accepted"

    def test_is_asked_about_less_and_less_often(self, rail):
        rail.ask("fault", name="wrong_host_key", on=True)
        moment, pauses = eastern(MONDAY, "09:00"), []
        for _ in range(9):
            run(moment, tasks.fetch_files, tasks.fetch_files)
            due = RailLine.objects.get().next_attempt_at
            assert due is not None
            pauses.append((due - moment).total_seconds())
            moment = due

        assert pauses == [40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


class TestALineThatBreaks:
    @pytest.mark.parametrize(
        ("switch", "value"), [("drop_upload", 300), ("lost_answer", 0), ("refuse_connection", 0)]
    )
    def test_is_tried_again_and_the_bank_takes_the_file_once(self, rail, file, switch, value):
        rail.ask("fault", name=switch, on=True, value=value, times=1)
        sends()
        file.refresh_from_db()
        assert (file.status, file.stuck_code) == ("released", "")
        rail.ask("fault", name=switch, on=False)

        sends()
        assert OutFile.objects.get().status == "released"
        sends(1)

        assert OutFile.objects.get().status == "sent"
        assert taken(rail) == [file.remote_name]

    def test_inside_a_file_of_theirs_leaves_nothing_half(self, rail, file):
        sends()
        rail.ask("scan")
        rail.ask("fault", name="drop_download", on=True, value=100, times=1)

        run(eastern(MONDAY, "09:48"), *FETCHING)
        assert not InFile.objects.exists()
        assert RailLine.objects.get().fetched_at != eastern(MONDAY, "09:48")
        run(eastern(MONDAY, "09:49"), *FETCHING)

        assert OutFile.objects.get().status == "acknowledged"
        assert RailLine.objects.get().fetched_at == eastern(MONDAY, "09:49")


class TestTheirFiles:
    def comes_back(self, rail):
        sends()
        rail.ask("scan")
        run(eastern(MONDAY, "09:48"), *FETCHING)
        at(rail, TUESDAY, "09:00")
        at(rail, WEDNESDAY, "09:00", *FETCHING)

    def test_handed_out_twice_count_once(self, rail, file):
        rail.ask("fault", name="hand_out_twice", on=True)
        self.comes_back(rail)

        assert AchEntry.objects.get().status == "returned"
        assert InFile.objects.filter(folder="inbound").count() == 1
        assert rail.names("inbound") == []

    def test_handed_out_by_half_are_set_aside_and_read_when_they_are_whole(self, rail, file):
        rail.ask("fault", name="half_file", on=True)
        self.comes_back(rail)
        assert AchEntry.objects.get().status == "accepted"
        assert InFile.objects.get(folder="inbound").status == "review"

        rail.ask("fault", name="half_file", on=False)
        run(eastern(WEDNESDAY, "09:01"), *FETCHING)

        assert AchEntry.objects.get().status == "returned"

    def test_late_acknowledgments_are_waited_for_and_then_count(self, rail, file, log):
        rail.ask("fault", name="late_ack", on=True, value=4 * 3600)
        sends()
        rail.ask("scan")
        at(rail, MONDAY, "12:00", *FETCHING, tasks.watch_files)
        assert OutFile.objects.get().status == "sent"
        assert [line["file"] for line in log.of("ach_acknowledgment_missing")] == [file.pk]

        at(rail, MONDAY, "14:00", *FETCHING)

        assert OutFile.objects.get().status == "acknowledged"
        assert AchEntry.objects.get().status == "accepted"


def test_a_slow_upload_is_not_sent_by_two(rail, monkeypatch):
    """It takes several leases, and another worker looks for work all the while."""
    monkeypatch.setattr(long_work, "LEASE", timedelta(seconds=1))
    monkeypatch.setattr(long_work, "_STEP_TO_SPARE", timedelta(seconds=-58.5))
    monkeypatch.setattr(long_work, "RENEWED_EVERY", 0.2)
    monkeypatch.setattr(delivery, "BLOCK_BYTES", 1_000)
    take_some(200, now=eastern(MONDAY, "09:00"))
    at(rail, MONDAY, "09:46", tasks.make_files)
    OutFile.objects.update(next_attempt_at=utc_now())
    rail.ask("fault", name="stall", on=True, value=200)
    done, tries = threading.Event(), []

    def other():
        try:
            while not done.wait(0.1):
                tries.append(sending.send_next(RAIL, AtBank(RAIL), now=utc_now()))
        finally:
            connection.close()

    began = utc_now()
    worker = threading.Thread(target=other)
    file = OutFile.objects.get()

    class Slow(AtBank):
        def deliver(self, *given, **named):
            worker.start()
            return super().deliver(*given, **named)

    try:
        assert sending.send_next(RAIL, Slow(RAIL), now=utc_now()) == file.pk
        seconds = (utc_now() - began).total_seconds()
    finally:
        done.set()
        worker.join()

    assert seconds > 3 * 1.5  # leases
    assert set(tries) == {None}
    assert OutFile.objects.get().status == "sent"
    assert taken(rail) == [file.remote_name]


class TestARotatedKey:
    def test_overlaps_so_that_nothing_is_held_up(self, rail, file):
        second = key_slots.make(rail=RAIL, by="usr_ada", now=eastern(MONDAY, "09:46"))
        assert probing.probe(RAIL)[-1].code == "sign_in_refused"
        rail.ask("authorize", key=second.public_key)
        assert [each.code for each in probing.probe(RAIL)] == [""] * 6

        key_slots.switch(rail=RAIL, now=eastern(MONDAY, "09:46"))
        retired = key_slots.retire(rail=RAIL, by="usr_ada", now=eastern(MONDAY, "09:47"))
        assert retired.fingerprint != second.fingerprint
        sends()

        assert taken(rail) == [file.remote_name]
        assert [each.code for each in probing.probe(RAIL)] == [""] * 5

    def test_that_the_bank_did_not_enter_keeps_files_until_we_switch_back(self, rail, file):
        key_slots.make(rail=RAIL, by="usr_ada", now=eastern(MONDAY, "09:46"))
        key_slots.switch(rail=RAIL, now=eastern(MONDAY, "09:46"))
        sends()
        assert OutFile.objects.get().stuck_code == "sign_in_refused"

        key_slots.switch(rail=RAIL, now=eastern(MONDAY, "09:48"))
        sending.try_again(file.pk, now=eastern(MONDAY, "09:48"))
        sends(1)

        assert taken(rail) == [file.remote_name]


class TestSwitches:
    """Each stops its own part of the sweeps, and what was stopped goes on when it is let go."""

    @pytest.fixture
    def stop(self):
        def stopped(part):
            return switches.engage(
                rail=RAIL, part=part, reason="Test", by="usr_ada", now=eastern(MONDAY, "09:00")
            )

        return stopped

    def go_on(self, switch):
        switches.release(
            switch_id=switch.pk, reason="Over", by="usr_ada", now=eastern(MONDAY, "09:50")
        )

    def test_building(self, rail, stop):
        take_some(1, now=eastern(MONDAY, "09:00"))
        switch = stop("building")
        at(rail, MONDAY, "09:46", tasks.make_files)
        assert not OutFile.objects.exists()

        self.go_on(switch)
        at(rail, MONDAY, "09:51", tasks.make_files)

        assert OutFile.objects.get().status == "released"

    def test_building_of_what_was_frozen_before(self, rail, stop):
        take_some(1, now=eastern(MONDAY, "09:00"))
        moment = eastern(MONDAY, "09:46")
        run(moment, lambda: freezing.freeze_due(RAIL, now=moment))
        stop("building")
        at(rail, MONDAY, "09:47", tasks.make_files)

        assert OutFile.objects.get().status == "building"

    def test_sending(self, rail, file, stop):
        switch = stop("sending")
        sends()
        assert taken(rail) == []

        self.go_on(switch)
        sends(5)

        assert taken(rail) == [file.remote_name]

    def test_reading(self, rail, file, stop):
        sends()
        rail.ask("scan")
        run(eastern(MONDAY, "09:48"), tasks.fetch_files)
        switch = stop("reading")
        rail.ask("acknowledge", file=1)
        run(eastern(MONDAY, "09:49"), *FETCHING)
        assert InFile.objects.count() == 1
        assert OutFile.objects.get().status == "sent"

        self.go_on(switch)
        run(eastern(MONDAY, "09:51"), *FETCHING)

        assert OutFile.objects.get().status == "acknowledged"
