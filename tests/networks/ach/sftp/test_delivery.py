"""A file is delivered once, whatever breaks on the way, and never two of it."""

from __future__ import annotations

import itertools

import pytest
from structlog.testing import capture_logs

from networks.ach.sftp.bank import connected
from networks.ach.sftp.delivery import Delivered
from networks.ach.sftp.errors import (
    AnswerLost,
    BadName,
    ConnectionLost,
    DeliveryUnknown,
    NameTaken,
    NoSpace,
    SourceDiffers,
    TimedOut,
)
from tests.devstack.odfi.conftest import shared  # noqa: F401
from tests.networks.ach.sftp.standin import OUTBOUND, paper, settings_for

numbers = itertools.count(1)


@pytest.fixture
def bank(shared):  # noqa: F811
    yield shared
    shared.ask("fault", name="all", on=False)
    shared.ask("terms", archives=False)


@pytest.fixture
def settings(bank):
    return settings_for(bank)


@pytest.fixture
def file():
    return paper(next(numbers))


def left_behind(bank, file):
    """Of this file: a bank that stalls may still work on what an earlier test asked for."""
    ours = f"{file.name}."
    return [name for name in bank.names(OUTBOUND) if name.startswith(ours)]


class TestDelivering:
    @pytest.mark.parametrize("size", [1, 32_768, 1_048_576, 3_000_001])
    def test_puts_the_bytes_there_under_their_name(self, bank, settings, size):
        file = paper(next(numbers), size)

        assert file.deliver(settings) is True

        assert bank.read(OUTBOUND, file.name) == file.content
        assert file.taken(bank) == [size]
        assert left_behind(bank, file) == []

    def test_takes_chunks_of_any_size(self, bank, settings, file):
        content = file.content
        chunks = itertools.chain(
            [b""], (content[at : at + 7] for at in range(0, 70_000, 7)), [content[70_000:]]
        )

        with connected(settings) as line:
            line.deliver(OUTBOUND, file.name, chunks, before_rename=file.mark, **file.told)

        assert bank.read(OUTBOUND, file.name) == content

    def test_asks_for_the_name_after_the_bytes_were_read_back(self, bank, settings, file):
        seen = []

        def look(temporary):
            seen.append((bank.read(OUTBOUND, temporary), file.name in bank.names(OUTBOUND)))

        file.deliver(settings, before_rename=look)

        assert seen == [(file.content, False)]

    def test_sends_nothing_if_the_mark_is_refused(self, bank, settings, file):
        class LostClaim(Exception):
            pass

        def refuse(_temporary):
            raise LostClaim

        with pytest.raises(LostClaim):
            file.deliver(settings, before_rename=refuse)

        assert file.taken(bank) == []
        assert left_behind(bank, file) == []

    def test_may_still_be_stopped_behind_the_mark(self, bank, settings, file):
        class LostClaim(Exception):
            pass

        def watch():
            if file.in_doubt:
                raise LostClaim

        with pytest.raises(LostClaim), connected(settings, watch) as line:
            line.deliver(OUTBOUND, file.name, [file.content], before_rename=file.mark, **file.told)

        assert file.in_doubt in bank.names(OUTBOUND)
        assert file.taken(bank) == []

    def test_a_second_time_changes_nothing(self, bank, settings, file):
        file.deliver(settings)

        assert file.deliver(settings, in_doubt="") is False
        assert file.deliver(settings) is False

        assert file.taken(bank) == [len(file.content)]

    def test_logs_the_file_without_its_content(self, settings, file):
        with capture_logs() as lines:
            file.deliver(settings)

        assert lines == [
            {
                "event": "sftp_delivered",
                "log_level": "info",
                "rail": "stand-in",
                "file": file.name,
                "is_new": True,
            }
        ]

    @pytest.mark.parametrize("changes", [{"size": 99_999}, {"size": 100_001}, {"sha256": "0" * 64}])
    def test_sends_nothing_that_is_not_what_was_built(self, bank, settings, file, changes):
        with pytest.raises(SourceDiffers):
            file.deliver(settings, **changes)

        assert file.taken(bank) == []
        assert left_behind(bank, file) == []

    def test_refuses_a_name_that_another_file_has(self, bank, settings, file):
        file.deliver(settings)

        for changes in ({"size": 5}, {"sha256": "0" * 64}):
            with pytest.raises(NameTaken):
                file.deliver(settings, in_doubt="", **changes)

        assert file.taken(bank) == [len(file.content)]

    def test_refuses_a_name_that_leads_elsewhere(self, settings, file):
        file.name = "../inbound/x.ach"

        with pytest.raises(BadName):
            file.deliver(settings)


class TestWhatBreaks:
    def test_in_the_middle_of_the_file_is_begun_again(self, bank, settings, file):
        bank.ask("fault", name="drop_upload", on=True, times=1, value=50_000)

        with pytest.raises(ConnectionLost):
            file.deliver(settings)
        assert file.in_doubt == ""
        assert len(left_behind(bank, file)) == 1

        assert file.deliver(settings) is True
        assert left_behind(bank, file) == []
        assert file.taken(bank) == [len(file.content)]

    def test_while_it_is_read_back_is_begun_again(self, bank, settings, file):
        bank.ask("fault", name="drop_download", on=True, times=1, value=50_000)

        with pytest.raises(ConnectionLost):
            file.deliver(settings)

        assert file.deliver(settings) is True
        assert left_behind(bank, file) == []
        assert file.taken(bank) == [len(file.content)]

    def test_as_a_full_disk_is_named_and_leaves_nothing(self, bank, settings, file):
        bank.ask("fault", name="full_disk", on=True)

        with pytest.raises(NoSpace):
            file.deliver(settings)

        bank.ask("fault", name="full_disk", on=False)
        assert file.deliver(settings) is True

    def test_as_time_is_named(self, bank, file):
        bank.ask("fault", name="stall", on=True, value=5_000)

        with pytest.raises(TimedOut):
            file.deliver(settings_for(bank, operation_seconds=0.3))

        bank.ask("fault", name="all", on=False)
        assert file.deliver(settings_for(bank)) is True
        assert file.taken(bank) == [len(file.content)]


class TestALostAnswer:
    @pytest.fixture
    def lost(self, bank, settings, file):
        bank.ask("fault", name="lost_answer", on=True, times=1)
        with pytest.raises(AnswerLost):
            file.deliver(settings)
        assert file.in_doubt
        return file

    def test_is_found_under_the_final_name(self, bank, settings, lost):
        assert lost.find(settings) is Delivered.TAKEN
        assert lost.deliver(settings) is False
        assert lost.taken(bank) == [len(lost.content)]

    def test_is_found_even_if_nobody_remembers_the_attempt(self, bank, settings, lost):
        """As after a restored backup."""
        lost.in_doubt = ""

        assert lost.deliver(settings) is False
        assert lost.taken(bank) == [len(lost.content)]

    def test_of_a_rename_that_was_never_done_leaves_the_temporary_file(self, bank, settings):
        """Account 30002: the line breaks before the rename, twice."""
        from tests.devstack.odfi.paper import Batch, Entry, File

        content = File([Batch(entries=[Entry(account="30002")])]).bytes()
        file = paper(next(numbers))
        file.content = content
        written = []
        for _attempt in range(2):
            with pytest.raises(AnswerLost):
                file.deliver(settings)
            written.append(file.in_doubt)
            assert file.find(settings) is Delivered.TEMPORARY
            assert file.taken(bank) == []

        assert file.deliver(settings) is True  # of what lies there: it is not written again
        assert written == [file.in_doubt] * 2
        assert left_behind(bank, file) == []
        assert file.taken(bank) == [len(content)]


class TestTheArchive:
    """A bank that moves files away once it took them."""

    @pytest.fixture
    def lost(self, bank, settings, file):
        bank.ask("terms", archives=True)
        bank.ask("fault", name="lost_answer", on=True, times=1)
        with pytest.raises(AnswerLost):
            file.deliver(settings)
        assert file.taken(bank) == [len(file.content)]
        assert file.name not in bank.names(OUTBOUND)
        return file

    def test_is_looked_into(self, bank, lost):
        settings = settings_for(bank, archive="outbound/archive")

        assert lost.find(settings) is Delivered.TAKEN
        assert lost.deliver(settings) is False
        assert lost.taken(bank) == [len(lost.content)]

    def test_may_be_unknown_and_then_a_person_decides(self, bank, settings, lost):
        assert lost.find(settings) is Delivered.UNKNOWN
        for _attempt in range(2):
            with pytest.raises(DeliveryUnknown):
                lost.deliver(settings)

        assert lost.taken(bank) == [len(lost.content)]

    def test_may_hold_another_file_of_the_same_name(self, bank, file):
        """Some banks use names again: that one is not ours, and not in our way."""
        bank.ask("terms", archives=True)
        settings = settings_for(bank, archive="outbound/archive")
        (bank.home / "sftp/outbound/archive").mkdir(exist_ok=True)
        (bank.home / "sftp/outbound/archive" / file.name).write_bytes(b"another")

        assert file.find(settings) is Delivered.NOTHING
        assert file.deliver(settings) is True
        assert file.taken(bank) == [len(file.content)]


class TestWhatIsLeftBehind:
    def test_of_this_file_is_removed_and_of_others_stays(self, bank, settings, file):
        folder = bank.home / "sftp" / OUTBOUND
        ours = folder / f"{file.name}.0123456789ab.tmp"
        others = [
            folder / "other.ach.0123456789ab.tmp",
            folder / f"{file.name}.tmp",
            folder / f"{file.name}.0123456789ab.part",
        ]
        for path in (ours, *others):
            path.write_bytes(b"x")

        file.deliver(settings)

        assert not ours.exists()
        assert all(path.exists() for path in others)
        for path in others:
            path.unlink()

    def test_and_damaged_is_written_anew(self, bank, settings, file):
        """The temporary file of the attempt in doubt lies there with other bytes."""
        file.in_doubt = f"{file.name}.0123456789ab.tmp"
        (bank.home / "sftp" / OUTBOUND / file.in_doubt).write_bytes(b"half")

        assert file.find(settings) is Delivered.TEMPORARY
        assert file.deliver(settings) is True

        assert bank.read(OUTBOUND, file.name) == file.content
        assert left_behind(bank, file) == []
