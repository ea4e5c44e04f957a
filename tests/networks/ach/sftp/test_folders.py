"""Listing, reading and removing at the stand-in bank, and its switches."""

from __future__ import annotations

import base64
import itertools
import socket
import time
from datetime import UTC, datetime

import asyncssh
import pytest
from structlog.testing import capture_logs

from networks.ach.sftp import keys
from networks.ach.sftp.bank import connected
from networks.ach.sftp.errors import (
    BadName,
    ConnectionLost,
    FileTooLarge,
    HostKeyWrong,
    NoSuchFile,
    NoSuchFolder,
    NotAllowed,
    SignInRefused,
    TimedOut,
    Unreachable,
)
from tests.devstack.odfi.conftest import shared  # noqa: F401
from tests.networks.ach.sftp.standin import other_host_key, settings_for

numbers = itertools.count()


@pytest.fixture
def bank(shared):  # noqa: F811
    yield shared
    shared.ask("fault", name="all", on=False)


def put(bank, content, folder="inbound"):
    name = f"test_{next(numbers)}.txt"
    bank.ask("put", name=name, folder=folder, content=base64.b64encode(content).decode())
    return name


def read(settings, name, folder="inbound", **options):
    with connected(settings) as bank:
        return b"".join(bank.read(folder, name, **options))


class TestSigningIn:
    def test_takes_a_host_key_of_either_slot(self, bank):
        ours = settings_for(bank).host_keys[0]
        another = keys.generate_client_key().public.text

        for slots in [(ours,), (ours, another), (another, ours)]:
            with connected(settings_for(bank, host_keys=slots)) as line:
                assert line.list("ack").odd_count == 0

    def test_refuses_another_host_key(self, bank):
        settings = settings_for(bank)
        bank.ask("fault", name="wrong_host_key", on=True)

        with pytest.raises(HostKeyWrong), connected(settings):
            pass
        with connected(settings_for(bank, host_keys=(*settings.host_keys, other_host_key(bank)))):
            pass

    def test_shows_a_wrong_host_no_key_of_ours(self, bank, monkeypatch):
        """The host is judged before we sign anything."""
        signed = []
        sign = asyncssh.SSHKey.sign

        def noted(self, *given):
            signed.append(self)
            return sign(self, *given)

        monkeypatch.setattr(asyncssh.SSHKey, "sign", noted)
        with connected(settings_for(bank)):
            assert signed
        signed.clear()
        bank.ask("fault", name="wrong_host_key", on=True)

        with pytest.raises(HostKeyWrong), connected(settings_for(bank)):
            pass
        assert not signed

    @pytest.mark.parametrize(
        "changes", [{"user": "root"}, {"private_key": keys.generate_client_key().private}]
    )
    def test_says_that_we_are_refused(self, bank, changes):
        with pytest.raises(SignInRefused), connected(settings_for(bank, **changes)):
            pass

    def test_may_be_by_an_rsa_key(self, bank):
        key = asyncssh.generate_private_key("ssh-rsa", key_size=3072)
        bank.ask("authorize", key=key.export_public_key().decode())

        with connected(settings_for(bank, private_key=key.export_private_key())) as line:
            line.list("inbound")

    def test_says_that_nobody_listens(self, bank):
        settings = settings_for(bank)
        bank.ask("fault", name="refuse_connection", on=True)

        with pytest.raises(Unreachable), connected(settings):
            pass

    def test_says_that_there_is_no_such_host(self, bank):
        with pytest.raises(Unreachable), connected(settings_for(bank, host="no-host.invalid")):
            pass

    def test_uses_nothing_of_the_machine(self, bank, monkeypatch, tmp_path):
        """Neither an agent nor default keys, a configuration or known hosts."""
        settings = settings_for(bank, private_key=keys.generate_client_key().private)
        folder = tmp_path / ".ssh"
        folder.mkdir()
        (folder / "id_ed25519").write_bytes(settings_for(bank).private_key)
        (folder / "id_ed25519").chmod(0o600)
        (folder / "config").write_text("Host *\n  Port 1\n  IdentityFile ~/.ssh/id_ed25519\n")
        (folder / "known_hosts").write_text(f"* {other_host_key(bank)}")
        monkeypatch.setenv("HOME", str(tmp_path))
        with socket.socket(socket.AF_UNIX) as agent:
            agent.bind(str(tmp_path / "agent"))
            agent.listen()
            agent.setblocking(False)
            monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))

            with pytest.raises(SignInRefused), connected(settings):
                pass
            bank.ask("fault", name="wrong_host_key", on=True)
            with pytest.raises(HostKeyWrong), connected(settings_for(bank)):
                pass

            with pytest.raises(BlockingIOError):
                agent.accept()

    def test_logs_the_rail_and_the_code_alone(self, bank):
        settings = settings_for(bank, user="root")
        with capture_logs() as lines, pytest.raises(SignInRefused), connected(settings):
            pass

        assert lines == [
            {
                "event": "sftp_failed",
                "log_level": "warning",
                "rail": "stand-in",
                "file": "",
                "code": "sign_in_refused",
            }
        ]


class TestListing:
    def test_tells_name_size_and_time(self, bank):
        name = put(bank, b"hello")

        with connected(settings_for(bank)) as line:
            [found] = [each for each in line.list("inbound").files if each.name == name]

        assert found.size == 5
        assert found.modified is not None
        assert abs((found.modified - datetime.now(UTC)).total_seconds()) < 60

    def test_is_in_order_and_without_folders_and_hidden_names(self, bank):
        (bank.home / "sftp/statements/folder").mkdir()
        (bank.home / "sftp/statements/.unfinished").write_text("x")
        for name in ("b.txt", "a.txt"):
            (bank.home / "sftp/statements" / name).write_text("x")

        with connected(settings_for(bank)) as line:
            found = line.list("statements")

        assert [each.name for each in found.files] == ["a.txt", "b.txt"]
        assert found.odd_count == 0

    def test_says_that_there_is_no_such_folder(self, bank):
        with connected(settings_for(bank)) as line, pytest.raises(NoSuchFolder):
            line.list("nowhere")


class TestReading:
    @pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_048_576, 2_500_000])
    def test_gives_every_byte(self, bank, size):
        content = bytes(range(251)) * (size // 251 + 1)
        name = put(bank, content[:size])

        assert read(settings_for(bank), name) == content[:size]

    def test_takes_no_more_than_the_bound(self, bank):
        name = put(bank, b"x" * 100_001)

        with pytest.raises(FileTooLarge):
            read(settings_for(bank), name, most=100_000)
        assert len(read(settings_for(bank), name, most=100_001)) == 100_001

    def test_may_be_left_in_the_middle(self, bank):
        long, short = put(bank, b"x" * 3_000_000), put(bank, b"short")

        with connected(settings_for(bank)) as line:
            assert len(next(line.read("inbound", long))) == 1_048_576
            assert b"".join(line.read("inbound", short)) == b"short"

    def test_says_that_there_is_no_such_file(self, bank):
        with pytest.raises(NoSuchFile):
            read(settings_for(bank), "nothing.txt")

    @pytest.mark.parametrize("name", ["../bank.sqlite3", "..", "a\n", "/etc/passwd"])
    def test_asks_for_no_name_that_leads_elsewhere(self, bank, name):
        with pytest.raises(BadName):
            read(settings_for(bank), name)

    def test_says_that_the_line_broke(self, bank):
        name = put(bank, b"x" * 400_000)
        bank.ask("fault", name="drop_download", on=True, times=1, value=100_000)

        with pytest.raises(ConnectionLost):
            read(settings_for(bank), name)
        assert len(read(settings_for(bank), name)) == 400_000

    def test_says_that_time_ran_out(self, bank):
        name = put(bank, b"x" * 100)
        settings = settings_for(bank, operation_seconds=0.3)
        bank.ask("fault", name="stall", on=True, value=5_000)
        began = time.monotonic()

        with pytest.raises(TimedOut):
            read(settings, name)
        assert time.monotonic() - began < 4

    def test_gives_half_a_file_as_it_is_and_then_the_whole_one(self, bank):
        """Only what is inside tells; the parser names it."""
        bank.ask("fault", name="half_file", on=True)
        name = put(bank, b"x" * 1000)
        assert len(read(settings_for(bank), name)) == 500

        bank.ask("fault", name="half_file", on=False)
        bank.ask("scan")

        assert len(read(settings_for(bank), name)) == 1000

    def test_gives_a_file_that_is_handed_out_twice_under_both_names(self, bank):
        bank.ask("fault", name="hand_out_twice", on=True)
        name = put(bank, b"twice")

        assert read(settings_for(bank), name) == read(settings_for(bank), f"again_{name}")


class TestRemoving:
    def test_deletes_and_does_not_mind_a_second_time(self, bank):
        name = put(bank, b"x", folder="ack")

        with connected(settings_for(bank)) as line:
            line.remove("ack", name)
            line.remove("ack", name)

            assert name not in [each.name for each in line.list("ack").files]

    def test_says_that_it_is_not_allowed(self, bank):
        (bank.home / "sftp/outbound/kept.ach").write_bytes(b"x")

        with connected(settings_for(bank)) as line, pytest.raises(NotAllowed):
            line.remove("outbound", "kept.ach")


def test_steps_leave_the_database_usable(bank, db):
    """No loop runs between the steps, so that Django lets its callers work."""
    from tenants.models import Tenant

    name = put(bank, b"x" * 2_000_000)
    with connected(settings_for(bank)) as line:
        counts = [Tenant.objects.count() for _block in line.read("inbound", name)]

    assert len(counts) == 2
