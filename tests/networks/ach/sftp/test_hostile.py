"""A server that means harm costs a bounded time and memory, and has a name."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
import time
import tracemalloc
from typing import Any

import asyncssh
import pytest
from asyncssh.constants import FILEXFER_TYPE_REGULAR
from asyncssh.sftp import SFTPAttrs, SFTPName, SFTPServer

from networks.ach.sftp import line as lines
from networks.ach.sftp.bank import connected
from networks.ach.sftp.errors import (
    AnswerLost,
    BadAnswer,
    ConnectionLost,
    DeliveryUnknown,
    FileChanged,
    FileTooLarge,
    FolderTooFull,
    HostKeyWrong,
    NameTaken,
    NoCommonMethod,
    NoSftp,
    NoSuchFolder,
    NotAllowed,
    ReadBackDiffers,
    Refused,
    SftpError,
    SignInRefused,
    TemporaryGone,
    TimedOut,
)
from tests.networks.ach.sftp.hostile import (
    HOST_KEY,
    OURS,
    Door,
    saying,
    serving,
    settings_for,
    talking,
)

VERSION = b"\x00\x00\x00\x05\x02\x00\x00\x00\x03"
CONTENT = b"x" * 200_000
TOLD: dict[str, Any] = {"size": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}
# Who notices first ends it: we, or the server, whose words may be lost with the line.
NOTHING_IN_COMMON = (NoCommonMethod, ConnectionLost)


def visit(port, **changes):
    with connected(settings_for(port, **changes)) as bank:
        return bank.list("inbound")


def attributes(size=10, kind=0o100600, modified=1_000_000):
    return SFTPAttrs(
        type=FILEXFER_TYPE_REGULAR, size=size, permissions=kind, atime=modified, mtime=modified
    )


class Server(SFTPServer):
    """A folder of names, and one file that has no end. Tests change what they mean to change."""

    names: list[bytes] = []  # noqa: RUF012

    def __init__(self, chan):
        super().__init__(chan)

    async def scandir(self, path):
        for name in self.names:
            yield SFTPName(name, b"", attributes())

    def lstat(self, path):
        raise asyncssh.SFTPNoSuchFile("nothing")

    def open(self, path, pflags, attrs):
        return object()

    def fstat(self, file_obj):
        return attributes()

    def read(self, file_obj, offset, size):
        return b"x" * size

    def write(self, file_obj, offset, data):
        return len(data)

    def rename(self, oldpath, newpath):
        return None

    def remove(self, path):
        return None

    def close(self, file_obj):
        return None


def read_from(server, **changes):
    with serving(sftp_factory=server) as port, connected(settings_for(port, **changes)) as bank:
        return b"".join(bank.read("inbound", "file.txt", most=1_000_000))


def list_of(server, **changes):
    with serving(sftp_factory=server) as port:
        return visit(port, **changes)


def deliver_to(server, *, in_doubt="", marks=None, **changes):
    with serving(sftp_factory=server) as port, connected(settings_for(port, **changes)) as bank:
        return bank.deliver(
            "outbound",
            "file.ach",
            [CONTENT],
            before_rename=[].append if marks is None else marks.append,
            in_doubt=in_doubt,
            **TOLD,
        )


class TestTheDoor:
    @pytest.mark.parametrize(
        ("answer", "stays", "error"),
        [
            (b"", True, TimedOut),
            (b"", False, ConnectionLost),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, ConnectionLost),
            (b"x" * 100_000, True, BadAnswer),
            (b"banner\r\n" * 10_000, True, BadAnswer),
            (b"SSH-1.5-old\r\n", True, NoCommonMethod),
            (b"SSH-2.0-x\r\n", True, TimedOut),
            (b"SSH-2.0-x\r\n" + b"\x00" * 10_000, True, BadAnswer),
            (b"SSH-2.0-x\r\n" + b"\xff" * 10_000, True, BadAnswer),
        ],
    )
    def test_that_speaks_no_ssh(self, answer, stays, error):
        began = time.monotonic()

        with talking(answer, stays=stays) as port, pytest.raises(error):
            visit(port, connect_seconds=1)

        assert time.monotonic() - began < 4

    def test_that_lets_anybody_in_is_not_ours(self):
        class Open(Door):
            def begin_auth(self, username):
                return False

        options = {"server_factory": Open, "sftp_factory": True}
        with serving(**options) as port, pytest.raises(SignInRefused):
            visit(port)

    def test_that_asks_for_a_password_gets_none(self):
        asked = []

        class Asking(asyncssh.SSHServer):
            def begin_auth(self, username):
                return True

            def public_key_auth_supported(self):
                return False

            def password_auth_supported(self):
                return True

            def validate_password(self, username, password):
                asked.append(password)
                return True

            def kbdint_auth_supported(self):
                return True

            def get_kbdint_challenge(self, username, lang, submethods):
                asked.append("challenge")
                return True

        options = {"server_factory": Asking, "sftp_factory": True}
        with serving(**options) as port, pytest.raises(SignInRefused):
            visit(port)
        assert asked == []

    @pytest.mark.parametrize("kind", ["ecdsa-sha2-nistp256", "ssh-rsa"])
    def test_with_a_key_of_another_kind_than_the_pinned_one(self, kind):
        another = asyncssh.generate_private_key(kind)
        with serving(server_host_keys=[another]) as port, pytest.raises(NOTHING_IN_COMMON):
            visit(port)

    def test_with_the_pinned_key_only_as_a_certificate_of_somebody(self):
        authority = asyncssh.generate_private_key("ssh-ed25519")
        key = asyncssh.generate_private_key("ssh-ed25519")
        certificate = authority.generate_host_certificate(key, "name", principals=["127.0.0.1"])

        with serving(server_host_keys=[(key, certificate)]) as port, pytest.raises(HostKeyWrong):
            visit(port)

    @pytest.mark.parametrize(
        "options",
        [
            {"kex_algs": ["diffie-hellman-group14-sha1"]},
            {"encryption_algs": ["aes256-cbc"]},
            {"encryption_algs": ["aes256-ctr"], "mac_algs": ["hmac-sha1"]},
            {"compression_algs": ["zlib@openssh.com"]},
        ],
    )
    def test_with_old_methods(self, options):
        with serving(sftp_factory=True, **options) as port, pytest.raises(NOTHING_IN_COMMON):
            visit(port)

    def test_with_a_present_rsa_and_a_next_ed25519_key(self):
        rsa = asyncssh.generate_private_key("ssh-rsa", key_size=3072)
        slots = (rsa.export_public_key().decode(), HOST_KEY.export_public_key().decode())

        for shown in (rsa, HOST_KEY):
            with serving(server_host_keys=[shown], sftp_factory=Server) as port:
                assert visit(port, host_keys=slots).files == ()

    def test_that_opens_no_sftp(self):
        with serving() as port, pytest.raises(NoSftp):
            visit(port)


class TestGarbage:
    @pytest.mark.parametrize(
        ("payloads", "error"),
        [
            ([b"Welcome to the bank!\r\n"], BadAnswer),
            ([b"\xff\xff\xff\xff"], BadAnswer),
            ([b"\x00\x00\x00\x05\x02\x00\x00\x00\x63"], BadAnswer),
            ([], TimedOut),
            ([VERSION], TimedOut),
            ([VERSION, b"\x00\x00\x00\x01\x65"], BadAnswer),
            ([VERSION, b"\x00\x00\x00\x05\x65\x00\x00\x00\x07"], BadAnswer),
            ([VERSION, b"\x00\x00\x00\x05\x65\x00\x00\x00\x00"], BadAnswer),
            ([VERSION, b"\x00\x00\x00\x05\x68\x00\x00\x00\x00"], BadAnswer),
        ],
    )
    def test_in_place_of_sftp(self, payloads, error):
        with serving(server_factory=saying(*payloads)) as port, pytest.raises(error):
            visit(port, connect_seconds=1)

    def test_of_any_kind_has_a_name(self):
        chance = random.Random(1)
        kinds = bytes([101, 102, 103, 104, 105, 201])
        for _round in range(40):
            body = bytes([chance.choice(kinds)]) + b"\x00\x00\x00\x00"
            body += chance.randbytes(chance.randrange(60))
            answer = len(body).to_bytes(4, "big") + body
            named = (BadAnswer, TimedOut, Refused, NoSuchFolder, NotAllowed)
            with serving(server_factory=saying(VERSION, answer)) as port, pytest.raises(named):
                visit(port, operation_seconds=0.2)


class TestAListing:
    def test_without_an_end(self):
        class Endless(Server):
            async def scandir(self, path):
                for number in itertools.count():
                    yield SFTPName(b"%d" % number, b"", attributes())

        with pytest.raises(FolderTooFull):
            list_of(Endless, operation_seconds=30)

    def test_of_long_names(self):
        class Long(Server):
            async def scandir(self, path):
                for number in itertools.count():
                    yield SFTPName(b"%d" % number + b"x" * 4096, b"", attributes())

        with pytest.raises(FolderTooFull):
            list_of(Long, operation_seconds=30)

    def test_that_stalls(self):
        class Stalling(Server):
            async def scandir(self, path):
                yield SFTPName(b"a", b"", attributes())
                await asyncio.sleep(60)

        began = time.monotonic()
        with pytest.raises(TimedOut):
            list_of(Stalling)
        assert time.monotonic() - began < 5

    def test_of_names_that_lead_elsewhere_shows_them_and_touches_none(self):
        class Nasty(Server):
            names = [  # noqa: RUF012
                b"good.txt",
                b"good.txt",
                b".",
                b"..",
                b".hidden",
                b"../../etc/passwd",
                b"/etc/passwd",
                b"in\\side",
                b"new\nline",
                b"\x1b[31mred",
                b"nul\x00l",
                b"\xff\xfe",
                "\N{RIGHT-TO-LEFT OVERRIDE}txt.ach".encode(),
                b"x" * 4096,
                b"",
            ]

        found = list_of(Nasty)

        assert [file.name for file in found.files] == ["good.txt"]
        assert found.odd_count == 9
        assert len(found.odd) == 9
        assert all(name.isprintable() and len(name) < 400 for name in found.odd)

    def test_of_many_such_names_shows_some(self):
        class Many(Server):
            names = [b"a/%d" % number for number in range(500)]  # noqa: RUF012

        found = list_of(Many)

        assert (len(found.odd), found.odd_count) == (20, 500)

    @pytest.mark.parametrize("kind", [0o040700, 0o120777, 0o010600, 0o060600, 0o140600])
    def test_of_what_is_no_file(self, kind):
        class Special(Server):
            async def scandir(self, path):
                yield SFTPName(b"special", b"", attributes(kind=kind))

        assert list_of(Special).files == ()

    def test_with_absurd_attributes(self):
        class Absurd(Server):
            async def scandir(self, path):
                yield SFTPName(b"huge", b"", attributes(size=2**64 - 1, modified=2**32 - 1))
                yield SFTPName(b"none", b"", SFTPAttrs())

        huge, none = list_of(Absurd).files

        assert (huge.size, huge.modified.year) == (2**63 - 1, 2106)
        assert (none.size, none.modified) == (None, None)


class TestAFile:
    def test_without_an_end(self):
        class Endless(Server):
            def fstat(self, file_obj):
                return SFTPAttrs()

        with pytest.raises(FileTooLarge):
            read_from(Endless)

    def test_that_says_it_is_too_large(self):
        class Large(Server):
            def fstat(self, file_obj):
                return attributes(size=2**63)

        with pytest.raises(FileTooLarge):
            read_from(Large)

    @pytest.mark.parametrize("told", [0, 9, 11, 999_999])
    def test_that_lies_about_its_size(self, told):
        class Lying(Server):
            def fstat(self, file_obj):
                return attributes(size=told)

            def read(self, file_obj, offset, size):
                return (b"x" * 10)[offset : offset + size]

        with pytest.raises(FileChanged):
            read_from(Lying)

    @pytest.mark.parametrize("change", [{"size": 12}, {"modified": 1_000_001}])
    def test_that_changes_while_it_is_read(self, change):
        class Changing(Server):
            asked = 0

            def fstat(self, file_obj):
                self.asked += 1
                return attributes(**(change if self.asked > 1 else {}))

            def read(self, file_obj, offset, size):
                return (b"x" * 10)[offset : offset + size]

        with pytest.raises(FileChanged):
            read_from(Changing)

    def test_with_a_hole(self):
        class Holed(Server):
            def fstat(self, file_obj):
                return attributes(size=300_000)

            def read(self, file_obj, offset, size):
                return b"" if offset == lines.READ_BYTES else b"x" * size

        with pytest.raises(BadAnswer):
            read_from(Holed)

    def test_of_longer_answers_than_were_asked_for(self):
        class Generous(Server):
            def read(self, file_obj, offset, size):
                return b"x" * (size + 1)

        with pytest.raises(BadAnswer):
            read_from(Generous)

    @pytest.mark.parametrize("pause", [0.05, 30])
    def test_byte_by_byte(self, pause):
        """A server that stalls after each byte is given up when it is too slow as a whole."""

        class Dripping(Server):
            def fstat(self, file_obj):
                return attributes(size=100_000)

            async def read(self, file_obj, offset, size):
                await asyncio.sleep(pause)
                return b"x"

        began = time.monotonic()
        with pytest.raises(TimedOut):
            read_from(Dripping)
        assert time.monotonic() - began < 5

    def test_in_short_answers_is_whole_all_the_same(self):
        content = random.Random(2).randbytes(200_000)

        class Short(Server):
            def fstat(self, file_obj):
                return attributes(size=len(content))

            def read(self, file_obj, offset, size):
                return content[offset : offset + min(size, 10_000)]

        assert read_from(Short) == content

    def test_in_large_answers_takes_bounded_memory(self):
        class Huge(Server):
            def fstat(self, file_obj):
                return SFTPAttrs()

            def read(self, file_obj, offset, size):
                return bytes(4_000_000)

        tracemalloc.start()
        try:
            with pytest.raises(SftpError):
                read_from(Huge)
            _now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 400_000_000  # of both sides


class TestADelivery:
    def test_that_is_changed_by_the_server_is_not_sent(self):
        """Line ends are changed on the way, for example."""
        marks: list[str] = []
        renamed: list[bytes] = []

        class Changing(Server):
            def fstat(self, file_obj):
                return attributes(size=len(CONTENT))

            def read(self, file_obj, offset, size):
                return (b"y" * len(CONTENT))[offset : offset + size]

            def rename(self, oldpath, newpath):
                renamed.append(newpath)

        with pytest.raises(ReadBackDiffers):
            deliver_to(Changing, marks=marks)
        assert (marks, renamed) == ([], [])

    def test_whose_temporary_file_is_taken_is_told_to_a_person(self):
        class Greedy(Server):
            def open(self, path, pflags, attrs):
                if not pflags & asyncssh.FXF_WRITE:
                    raise asyncssh.SFTPNoSuchFile("gone")
                return object()

        marks: list[str] = []
        with pytest.raises(TemporaryGone) as failed:
            deliver_to(Greedy, marks=marks)
        assert not failed.value.is_passing
        with pytest.raises(DeliveryUnknown):  # what the bank may have is not sent again
            deliver_to(Greedy, in_doubt=marks[0])

    def test_into_a_folder_that_is_not_there_is_named(self):
        class Bare(Server):
            def open(self, path, pflags, attrs):
                raise asyncssh.SFTPNoSuchFile("no such folder")

        with pytest.raises(NoSuchFolder):
            deliver_to(Bare)

    def test_that_is_refused_stays_unsent(self):
        class Refusing(Honest):
            def rename(self, oldpath, newpath):
                raise asyncssh.SFTPFailure("no reason")

        Refusing.begin()
        with pytest.raises(Refused):
            deliver_to(Refusing)

    def test_that_is_done_and_called_a_failure_is_delivered(self):
        class Wrong(Honest):
            def rename(self, oldpath, newpath):
                super().rename(oldpath, newpath)
                raise asyncssh.SFTPFailure("no reason")

        Wrong.begin()
        assert deliver_to(Wrong) is False

    def test_meets_a_name_that_was_taken_meanwhile(self):
        class Racing(Honest):
            def rename(self, oldpath, newpath):
                self.files[newpath] = b"another"
                raise asyncssh.SFTPFailure("exists")

        Racing.begin()
        with pytest.raises(NameTaken):
            deliver_to(Racing)

    @pytest.mark.parametrize("answer", ["none", "garbage"])
    def test_whose_rename_is_not_answered_is_in_doubt(self, answer):
        class Silent(Honest):
            async def rename(self, oldpath, newpath):
                super().rename(oldpath, newpath)
                if answer == "none":
                    await asyncio.sleep(30)
                self.line.write(b"\xff" * 100)

        marks: list[str] = []
        Silent.begin()
        with pytest.raises(AnswerLost):
            deliver_to(Silent, marks=marks)
        assert len(marks) == 1
        assert deliver_to(Silent, in_doubt=marks[0]) is False
        assert list(Silent.files) == [b"outbound/file.ach"]

    def test_may_leave_temporary_files_that_may_not_be_removed(self):
        class Strict(Honest):
            def remove(self, path):
                raise asyncssh.SFTPPermissionDenied("no")

        Strict.begin({b"outbound/file.ach.0123456789ab.tmp": b"x"})
        assert deliver_to(Strict) is True
        assert len(Strict.files) == 2

    def test_byte_by_byte_is_given_up(self):
        class Dripping(Honest):
            async def write(self, file_obj, offset, data):
                await asyncio.sleep(0.4)
                return super().write(file_obj, offset, data)

        Dripping.begin()
        began = time.monotonic()
        with pytest.raises(TimedOut):
            deliver_to(Dripping, operation_seconds=0.3)
        assert time.monotonic() - began < 5


class Honest(Server):
    """Files in memory."""

    files: dict[bytes, bytes] = {}  # noqa: RUF012

    @classmethod
    def begin(cls, files=None):
        cls.files = dict(files or {})

    def __init__(self, chan):
        super().__init__(chan)
        self.line = chan

    async def scandir(self, path):
        for name in list(self.files):
            yield SFTPName(name.partition(b"/")[2], b"", attributes())

    def lstat(self, path):
        if path not in self.files:
            raise asyncssh.SFTPNoSuchFile("nothing")
        return attributes(size=len(self.files[path]))

    def open(self, path, pflags, attrs):
        if pflags & asyncssh.FXF_CREAT:
            self.files[path] = b""
        elif path not in self.files:
            raise asyncssh.SFTPNoSuchFile("nothing")
        return path

    def fstat(self, file_obj):
        return self.lstat(file_obj)

    def read(self, file_obj, offset, size):
        return self.files[file_obj][offset : offset + size]

    def write(self, file_obj, offset, data):
        held = self.files[file_obj].ljust(offset, b"\x00")
        self.files[file_obj] = held[:offset] + data + held[offset + len(data) :]
        return len(data)

    def rename(self, oldpath, newpath):
        if newpath in self.files:
            raise asyncssh.SFTPFailure("exists")
        self.files[newpath] = self.files.pop(oldpath)

    def remove(self, path):
        del self.files[path]


def test_the_door_of_these_tests_takes_our_key():
    Honest.begin({b"inbound/file.txt": b"hello"})

    assert OURS.public.kind == "ssh-ed25519"
    assert read_from(Honest) == b"hello"
