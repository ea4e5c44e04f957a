"""The door: SFTP on the loopback address, by public key only, each connection shut in one folder.

outbound     the customer writes under a temporary name and renames to NAME.ach; then it is taken
ack          what became of a file
inbound      returns, changes, credits; files from the bank
statements   one of each format for a banking day
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import asyncssh
from asyncssh import FXF_APPEND, FXF_CREAT, FXF_TRUNC, FXF_WRITE, SFTPAttrs

from devstack.odfi import keys
from devstack.odfi.bank import Bank, is_final

HOST = "127.0.0.1"
USERNAME = "ballast"
READ_ONLY = frozenset({"ack", "inbound", "statements"})
WRITES = FXF_WRITE | FXF_APPEND | FXF_CREAT | FXF_TRUNC
LOGIN_SECONDS = 10


class _Door(asyncssh.SSHServer):
    """One connection until it has signed in."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._allow: Callable[[str], None] = lambda _path: None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._allow = conn.set_authorized_keys

    def begin_auth(self, username: str) -> bool:
        """Keys are asked for in any case; nobody but the customer has any."""
        if username == USERNAME:
            self._allow(str(self._bank.home / "keys" / keys.AUTHORIZED))
        return True

    def password_auth_supported(self) -> bool:
        return False


class _Files(asyncssh.SFTPServer):
    """What a customer may do with files, and what goes wrong with them."""

    def __init__(self, chan: asyncssh.SSHServerChannel[bytes], bank: Bank) -> None:
        super().__init__(chan, chroot=os.fsencode(bank.root))
        self._bank = bank
        self._written = 0
        self._read = 0

    async def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> object:
        await self._stall()
        if pflags & WRITES:
            folder, name = self._parts(path)
            if folder != "outbound" or is_final(name):
                raise asyncssh.SFTPPermissionDenied("write under a temporary name in outbound")
            if await self._bank.strike("full_disk") is not None:
                raise asyncssh.SFTPFailure("no space left on device")
        attrs.permissions = 0o600
        return super().open(path, pflags, attrs)

    async def read(self, file_obj: object, offset: int, size: int) -> bytes:
        await self._stall()
        data = cast("bytes", super().read(file_obj, offset, size))
        self._read += len(data)
        limit = self._bank.faults.get("drop_download")
        if limit is not None and self._read > (limit["value"] or 0):
            await self._bank.strike("drop_download")
            self._drop()
        return data

    async def write(self, file_obj: object, offset: int, data: bytes) -> int:
        await self._stall()
        limit = self._bank.faults.get("drop_upload")
        if limit is not None and self._written + len(data) > (limit["value"] or 0):
            super().write(file_obj, offset, data[: (limit["value"] or 0) - self._written])
            await self._bank.strike("drop_upload")
            self._drop()
        if await self._bank.strike("full_disk") is not None:
            raise asyncssh.SFTPFailure("no space left on device")
        self._written += len(data)
        return cast("int", super().write(file_obj, offset, data))

    async def rename(self, oldpath: bytes, newpath: bytes) -> None:
        await self._stall()
        old, new = self._parts(oldpath), self._parts(newpath)
        if {old[0], new[0]} != {"outbound"} or is_final(old[1]):
            raise asyncssh.SFTPPermissionDenied("only temporary names in outbound are renamed")
        source, target = self._local(oldpath), self._local(newpath)
        if not source.is_file():
            raise asyncssh.SFTPNoSuchFile("no such file")
        if target.exists():
            raise asyncssh.SFTPFailure("a file of this name exists")
        if is_final(new[1]):
            await self._deliver(source)
        source.rename(target)
        _sync(target.parent)
        self._bank.is_changed.set()
        if await self._bank.strike("lost_answer") is not None:
            self._drop()

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        await self.rename(oldpath, newpath)

    async def remove(self, path: bytes) -> None:
        await self._stall()
        folder, name = self._parts(path)
        if folder not in READ_ONLY and (folder != "outbound" or is_final(name)):
            raise asyncssh.SFTPPermissionDenied("a delivered file stays")
        super().remove(path)

    async def _deliver(self, source: Path) -> None:
        """A file is about to get its final name. Some test accounts prevent it."""
        _sync(source)
        bank = self._bank
        if await bank.exclusively(lambda: bank.fails(source)):
            self._drop()

    async def _stall(self) -> None:
        fault = self._bank.faults.get("stall")
        if fault is not None:
            await asyncio.sleep((fault["value"] or 0) / 1000)
            await self._bank.strike("stall")

    def _drop(self) -> None:
        self.connection.abort()
        raise asyncssh.SFTPConnectionLost("the line broke")

    def _local(self, path: bytes) -> Path:
        return Path(os.fsdecode(self.map_path(path)))

    def _parts(self, path: bytes) -> tuple[str, str]:
        """The folder of a path and its name; a path that is not of this form belongs to none."""
        parts = self._local(path).relative_to(self._bank.root).parts
        return (parts[0], parts[1]) if len(parts) == 2 else ("", "")

    def _refuse(self, *_arguments: Any, **_named: Any) -> None:
        raise asyncssh.SFTPPermissionDenied("not here")

    mkdir = rmdir = symlink = link = setstat = lsetstat = fsetstat = _refuse
    open56 = _refuse


class Listener:
    """Listens while nothing forbids it, with the right key or another one."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._key = ""
        self.port = 0

    async def start(self, port: int) -> None:
        """Listen on a port, or on any free one if it is 0 or taken."""
        try:
            await self._listen(port)
        except OSError:
            await self._listen(0)

    async def adjust(self) -> None:
        """Do as the switches say."""
        refuses = "refuse_connection" in self._bank.faults
        key = self._key_now()
        if self._acceptor is not None and (refuses or key != self._key):
            self.stop()
        if self._acceptor is None and not refuses:
            await self._listen(self.port)

    def stop(self) -> None:
        """Listen no longer; who is signed in stays."""
        if self._acceptor is not None:
            self._acceptor.close()
            self._acceptor = None

    def _key_now(self) -> str:
        return keys.OTHER_HOST if "wrong_host_key" in self._bank.faults else keys.HOST

    async def _listen(self, port: int) -> None:
        bank, self._key = self._bank, self._key_now()
        self._acceptor = await asyncssh.listen(
            HOST,
            port,
            family=socket.AF_INET,
            reuse_address=True,
            server_factory=lambda: _Door(bank),
            sftp_factory=lambda chan: _Files(chan, bank),
            sftp_version=3,
            server_host_keys=[str(bank.home / "keys" / self._key)],
            config=None,
            login_timeout=LOGIN_SECONDS,
            allow_pty=False,
            agent_forwarding=False,
            x11_forwarding=False,
            gss_host=None,
            password_auth=False,
            kbdint_auth=False,
            host_based_auth=False,
        )
        self.port = self._acceptor.get_port()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
