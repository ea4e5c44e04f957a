"""Who may sign in, and what may be done in which folder."""

from __future__ import annotations

import asyncio

import asyncssh
import pytest

from devstack.odfi import client
from tests.devstack.odfi.paper import File


async def nothing(_sftp):
    pass


class TestSigningIn:
    def test_takes_the_key_of_the_copy(self, shared):
        assert shared.names("outbound") is not None

    @pytest.mark.parametrize("options", [{"client_keys": None}, {"username": "root"}])
    def test_takes_nothing_else(self, shared, options):
        options = {"password": "secret", **options}

        with pytest.raises(asyncssh.PermissionDenied):
            shared.visit(nothing, **options)

    def test_takes_no_other_key_until_it_is_allowed(self, shared):
        key = asyncssh.generate_private_key("ssh-ed25519")
        with pytest.raises(asyncssh.PermissionDenied):
            shared.visit(nothing, client_keys=[key])

        shared.ask("authorize", key=key.export_public_key().decode())

        shared.visit(nothing, client_keys=[key])

    def test_refuses_what_is_no_key(self, shared):
        with pytest.raises(client.ControlError):
            shared.ask("authorize", key="ssh-ed25519 nonsense")

    def test_gives_no_shell(self, shared):
        async def shell(known):
            async with asyncssh.connect(
                known["host"],
                known["port"],
                username=known["username"],
                client_keys=[known["private_key"]],
                known_hosts=None,
                config=None,
                agent_path=None,
            ) as connection:
                await connection.run("id", check=True)

        with pytest.raises((asyncssh.ChannelOpenError, asyncssh.ProcessError)):
            asyncio.run(shell(client.connection(shared.home)))

    def test_keeps_its_keys_to_itself(self, shared):
        modes = {path.name: path.stat().st_mode & 0o777 for path in shared.home.rglob("*ed25519")}

        assert set(modes) == {"host_ed25519", "other_host_ed25519", "customer_ed25519"}
        assert set(modes.values()) == {0o600}


class TestOutbound:
    def test_takes_a_file_when_it_has_its_final_name(self, shared):
        async def write(sftp):
            async with sftp.open("outbound/later.part", "wb") as file:
                await file.write(File().bytes())

        before = len(shared.ask("files"))
        shared.visit(write)
        shared.ask("scan")
        assert len(shared.ask("files")) == before

        async def rename(sftp):
            await sftp.rename("outbound/later.part", "outbound/later.ach")

        shared.visit(rename)
        assert shared.ack("later.ach")[0]["verdict"] == "accepted"

    def test_keeps_a_taken_file_for_the_listing(self, shared):
        content = File().bytes()
        shared.deliver("kept.ach", content)
        shared.ask("scan")

        assert "kept.ach" in shared.names("outbound")
        assert shared.read("outbound", "kept.ach") == content

    def test_may_put_taken_files_away(self, bank):
        bank.ask("terms", archives=True)
        file = File().bytes()
        bank.deliver("a.ach", file)
        bank.ask("scan")
        assert bank.names("outbound") == ["archive"]

        bank.deliver("a.ach", file)  # sent again under the same name
        bank.ask("scan")

        assert [each["verdict"] for each in bank.ask("files")] == ["accepted", "rejected"]
        assert bank.names("ack") == ["a.ach.1.jsonl", "a.ach.2.jsonl"]

    @pytest.mark.parametrize("replace", ["rename", "posix_rename"])
    def test_overwrites_nothing(self, shared, replace):
        name = f"once-{replace}.ach"
        shared.deliver(name, File().bytes())

        async def work(sftp):
            async with sftp.open("outbound/other.tmp", "wb") as file:
                await file.write(b"x")
            with pytest.raises(asyncssh.SFTPError):
                await getattr(sftp, replace)("outbound/other.tmp", f"outbound/{name}")
            await sftp.remove("outbound/other.tmp")

        shared.visit(work)

    @pytest.mark.parametrize(
        "act",
        [
            lambda sftp: sftp.open("outbound/direct.ach", "wb"),
            lambda sftp: sftp.open("inbound/x.tmp", "wb"),
            lambda sftp: sftp.open("/x.tmp", "wb"),
            lambda sftp: sftp.open("../bank.sqlite3", "rb"),
            lambda sftp: sftp.open("/../../etc/passwd", "rb"),
            lambda sftp: sftp.remove("outbound/mine.ach"),
            lambda sftp: sftp.rename("outbound/mine.ach", "outbound/yours.tmp"),
            lambda sftp: sftp.rename("outbound/mine.ach", "inbound/mine.ach"),
            lambda sftp: sftp.mkdir("outbound/folder"),
            lambda sftp: sftp.symlink("/", "outbound/link.tmp"),
            lambda sftp: sftp.link("outbound/mine.ach", "outbound/link.tmp"),
            lambda sftp: sftp.truncate("outbound/mine.ach", 3),
            lambda sftp: sftp.chmod("outbound/mine.ach", 0o777),
        ],
    )
    def test_allows_nothing_else(self, shared, act):
        if "mine.ach" not in shared.names("outbound"):
            shared.deliver("mine.ach", File().bytes())

        async def work(sftp):
            with pytest.raises(asyncssh.SFTPError):
                await act(sftp)

        shared.visit(work)


class TestOtherFolders:
    def test_are_read_and_emptied(self, shared):
        shared.ask("put", name="hello.txt", content="aGVsbG8=")

        assert shared.read("inbound", "hello.txt") == b"hello"
        assert shared.fetch(start="hello") == {"hello.txt": b"hello"}
        assert "hello.txt" not in shared.names("inbound")

        shared.ask("again", name="hello.txt")
        assert shared.read("inbound", "hello.txt") == b"hello"

    @pytest.mark.parametrize(
        ("folder", "name"), [("inbound", "../x"), ("keys", "x"), ("inbound", ".x")]
    )
    def test_hold_no_names_that_lead_elsewhere(self, shared, folder, name):
        with pytest.raises(client.ControlError):
            shared.ask("put", folder=folder, name=name, content="")
