"""A released file gets to the bank once, whatever the line does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import database_clock
from networks.ach import releasing
from networks.ach.errors import FileInAnotherStatus, FileIsGoing, FileNotThere
from networks.ach.long_work import LEASE
from networks.ach.models import AchEntry, OutFile, OutFileChunk, RailSwitch
from networks.ach.sealing import opened
from networks.ach.sending import at_bank, not_at_bank, send_next, sent, try_again
from networks.ach.sftp.errors import ConnectionLost, DeliveryUnknown, HostKeyWrong
from tests.database import owner
from tests.networks.ach.builders import (
    CUTOFF,
    FREEZE,
    NOON,
    RAIL,
    make_files,
    make_originator,
    make_rail,
    the_file,
)
from tests.networks.ach.folder import Folder

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(dual_release=False)
    make_originator()


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def send(folder, now=FREEZE):
    return send_next(RAIL, folder, now=now)


def failing(step, error=ConnectionLost):
    def fails(at):
        if at == step:
            raise error

    return fails


class TestSending:
    def test_puts_the_exact_bytes_there_and_says_so(self, folder):
        (file,) = make_files()

        assert send(folder) == file.pk

        file.refresh_from_db()
        assert (file.status, file.sent_at, file.next_attempt_at) == ("sent", FREEZE, None)
        assert file.acknowledgment_due_at == FREEZE + timedelta(hours=2)
        assert folder.names() == [file.remote_name]
        assert folder.content() == [b"".join(opened(file.pk))]
        assert set(AchEntry.objects.values_list("status", "sent_at")) == {("sent", FREEZE)}

    def test_takes_only_what_was_released(self, folder):
        make_rail()
        make_files()

        assert send(folder) is None
        assert folder.names() == []

    def test_sends_each_file_once(self, folder):
        make_rail(dual_release=False, entries_per_file_max=1)
        files = make_files(3)

        assert {send(folder) for _ in range(3)} == {file.pk for file in files}
        assert send(folder) is None
        assert len(folder.names()) == 3

    def test_obeys_the_switch(self, folder):
        make_files()
        RailSwitch.objects.create(rail_id=RAIL, part="sending", reason="Test", engaged_at=NOON)

        assert send(folder) is None

    def test_stops_before_the_rename_if_the_switch_is_engaged_meanwhile(self, folder):
        make_files()

        def engage(step):
            if step == "written":
                with owner.as_application():
                    RailSwitch.objects.create(
                        rail_id=RAIL, part="sending", reason="Test", engaged_at=NOON
                    )

        folder.fails = engage
        send(folder)

        assert (the_file().status, the_file().temporary_name, folder.names()) == (
            "released",
            "",
            [],
        )

    def test_leaves_alone_what_missed_its_cutoff(self, folder):
        make_files()

        assert send(folder, CUTOFF) is None
        assert releasing.give_up_missed(RAIL, now=CUTOFF) != []


class TestFailure:
    @pytest.mark.parametrize("step", ["connect", "written", "noted", "renamed"])
    def test_at_any_step_is_made_good_by_the_next_attempt(self, folder, step):
        (file,) = make_files()
        folder.fails = failing(step)
        send(folder)

        file.refresh_from_db()
        assert (file.status, file.next_attempt_at) == (
            "released",
            FREEZE + timedelta(seconds=30),
        )
        assert bool(file.temporary_name) == (step in ("noted", "renamed"))
        folder.fails = lambda _step: None
        assert send(folder) is None
        assert send(folder, FREEZE + timedelta(seconds=30)) == file.pk
        assert folder.names() == [file.remote_name]
        assert the_file().status == "sent"

    def test_that_may_have_reached_the_bank_is_looked_up_even_after_the_cutoff(self, folder):
        make_files()
        folder.fails = failing("renamed")
        send(folder)
        folder.fails = lambda _step: None

        assert releasing.give_up_missed(RAIL, now=CUTOFF) == []
        assert send(folder, CUTOFF) is not None
        assert (the_file().status, len(folder.names())) == ("sent", 1)

    def test_that_does_not_pass_keeps_the_file_until_a_person_mended_it(self, folder):
        (file,) = make_files()
        folder.fails = failing("connect", HostKeyWrong)
        send(folder)

        file.refresh_from_db()
        assert (file.status, file.stuck_code, file.stuck_at) == (
            "released",
            "host_key_wrong",
            FREEZE,
        )
        folder.fails = lambda _step: None
        assert send(folder, CUTOFF - timedelta(seconds=1)) is None
        try_again(file.pk, now=FREEZE)
        assert send(folder) == file.pk
        assert (the_file().status, the_file().stuck_code) == ("sent", "")

    def test_that_does_not_pass_lets_the_entries_go_with_the_next_file(self, folder):
        (file,) = make_files()
        folder.fails = failing("connect", HostKeyWrong)
        send(folder)

        assert releasing.give_up_missed(RAIL, now=CUTOFF) == [file.pk]
        file.refresh_from_db()
        assert (file.status, file.stuck_code, file.stuck_at) == ("withdrawn", "", None)

    def test_of_a_key_that_sealed_our_copy_sends_nothing(self, folder):
        make_files()
        OutFileChunk.objects.update(content_token="broken")

        send(folder)

        assert (the_file().stuck_code, folder.names()) == ("source_differs", [])

    def test_that_did_not_happen_is_not_tried_again(self):
        (file,) = make_files()

        with pytest.raises(FileInAnotherStatus):
            try_again(file.pk, now=FREEZE)
        with pytest.raises(FileNotThere):
            try_again("ofl_unknown", now=FREEZE)

    def test_before_the_bank_could_have_it_leaves_time_to_hold_it(self, folder):
        (file,) = make_files()
        folder.fails = failing("written")
        send(folder)

        releasing.hold(file.pk, by="ada@ballast.example", why="Stop", now=FREEZE)

        assert send(folder, FREEZE + timedelta(minutes=1)) is None

    def test_of_our_own_stays_claimed_until_the_lease_is_over(self, folder):
        (file,) = make_files()
        folder.fails = failing("noted", RuntimeError)
        with pytest.raises(RuntimeError):
            send(folder)

        folder.fails = lambda _step: None
        assert send(folder, FREEZE + LEASE - timedelta(seconds=1)) is None
        assert send(folder, FREEZE + LEASE) == file.pk
        assert folder.names() == [file.remote_name]


class TestHold:
    def test_while_a_worker_sends_is_too_late(self, folder):
        (file,) = make_files()

        def hold(step):
            if step == "written":
                with pytest.raises(FileIsGoing):
                    releasing.hold(file.pk, by="ada@ballast.example", why="Stop", now=FREEZE)

        folder.fails = hold
        with database_clock.at(FREEZE):
            send(folder)

        assert the_file().status == "sent"

    def test_after_the_lease_keeps_a_late_worker_from_sending(self, folder):
        (file,) = make_files()

        def hold(step):
            if step == "written":
                OutFile.objects.update(leased_until=NOON)
                releasing.hold(file.pk, by="ada@ballast.example", why="Stop", now=FREEZE)

        folder.fails = hold
        send(folder)

        assert (the_file().status, folder.names()) == ("held", [])


class TestAWorkerThatSleptPastItsLease:
    """Between the note that its file may be at the bank and the rename."""

    @pytest.fixture
    def sleeping(self, folder):
        """A worker that sleeps there while something else is done about its file."""
        (file,) = make_files()

        def sends_while(act):
            def sleep(step):
                if step == "noted":
                    OutFile.objects.update(leased_until=NOON)
                    act(file)

            folder.fails = sleep
            send(folder)

        return sends_while

    def test_renames_nothing_that_was_taken_apart(self, folder, sleeping):
        def give_up(file):
            not_at_bank(file.pk, now=FREEZE)
            releasing.take_apart(file.pk, by="ada@ballast.example", why="Lost", now=FREEZE)

        sleeping(give_up)

        assert OutFile.objects.get().status == "withdrawn"
        assert folder.names() == []
        assert set(AchEntry.objects.values_list("status", flat=True)) == {"waiting"}

    def test_renames_nothing_that_is_to_be_sent_again(self, folder, sleeping):
        sleeping(lambda file: not_at_bank(file.pk, now=FREEZE))

        assert folder.names() == []
        folder.fails = lambda _step: None
        assert send(folder) is not None
        assert (the_file().status, len(folder.names())) == ("sent", 1)

    def test_renames_nothing_that_the_bank_has(self, folder, sleeping):
        sleeping(lambda file: at_bank(file.pk, now=FREEZE))

        assert (the_file().status, folder.names()) == ("sent", [])

    def test_renames_what_nobody_has_touched(self, folder, sleeping):
        sleeping(lambda _file: None)

        assert (the_file().status, len(folder.names())) == ("sent", 1)


class TestDoubt:
    def test_is_ended_by_a_bank_that_does_not_have_the_file(self, folder):
        (file,) = make_files()
        folder.fails = failing("noted")
        send(folder)

        with database_clock.at(FREEZE):
            not_at_bank(file.pk, now=FREEZE)
        releasing.hold(file.pk, by="ada@ballast.example", why="Look", now=FREEZE)

        assert (the_file().status, the_file().temporary_name) == ("held", "")

    def test_is_ended_by_a_bank_that_has_the_file(self, folder):
        (file,) = make_files()
        folder.fails = failing("noted", DeliveryUnknown)
        send(folder)
        assert the_file().stuck_code == "delivery_unknown"

        at_bank(file.pk, now=FREEZE)

        assert (the_file().status, the_file().stuck_code, the_file().sent_at) == (
            "sent",
            "",
            FREEZE,
        )
        assert set(AchEntry.objects.values_list("status", flat=True)) == {"sent"}
        with pytest.raises(FileInAnotherStatus):
            at_bank(file.pk, now=FREEZE)

    def test_is_not_ended_while_a_worker_sends(self, folder):
        (file,) = make_files()

        def ask(step):
            if step == "noted":
                with pytest.raises(FileIsGoing):
                    not_at_bank(file.pk, now=FREEZE)

        folder.fails = ask
        with database_clock.at(FREEZE):
            send(folder)

        assert the_file().status == "sent"

    def test_that_there_is_none_of_is_not_ended(self):
        (file,) = make_files()

        with pytest.raises(FileInAnotherStatus):
            not_at_bank(file.pk, now=FREEZE)
        with pytest.raises(FileNotThere):
            not_at_bank("ofl_unknown", now=FREEZE)


def test_what_nobody_delivered_is_not_sent():
    (file,) = make_files()

    assert not sent(file.pk, now=FREEZE)
    assert the_file().status == "released"
