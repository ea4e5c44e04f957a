"""What asyncssh raises, in our words."""

from __future__ import annotations

import asyncio
import re
from types import MappingProxyType
from typing import NamedTuple

import asyncssh

from networks.ach.sftp.errors import (
    BadAnswer,
    BadName,
    ConnectionLost,
    HostKeyWrong,
    NameTaken,
    NoCommonMethod,
    NoSftp,
    NoSpace,
    NoSuchFile,
    NoSuchFolder,
    NotAllowed,
    Refused,
    SftpError,
    SignInRefused,
    TimedOut,
    Unreachable,
)

# ValueError and EOFError: packets that cannot be decoded.
CAUGHT = (asyncssh.Error, OSError, EOFError, ValueError, asyncio.CancelledError)


class Meanings(NamedTuple):
    """What some failures mean in one kind of step."""

    missing: type[SftpError] = BadAnswer  # "no such file"
    line: type[SftpError] = ConnectionLost  # of the network
    channel: type[SftpError] = BadAnswer  # the server opens no SFTP
    writes: bool = False


OF_CONNECTING = Meanings(line=Unreachable)
OF_STARTING = Meanings(channel=NoSftp)
OF_A_FOLDER = Meanings(missing=NoSuchFolder)
OF_A_FILE = Meanings(missing=NoSuchFile)
OF_WRITING = Meanings(missing=NoSuchFolder, writes=True)

# Version 3 of SFTP, the one that servers speak, has no code for a full disk: only the text says it.
_FULL = re.compile(r"space|quota|disk.{0,20}full", re.IGNORECASE)

_OF_THE_LINE: MappingProxyType[type[asyncssh.Error], type[SftpError]] = MappingProxyType(
    {
        asyncssh.HostKeyNotVerifiable: HostKeyWrong,
        asyncssh.PermissionDenied: SignInRefused,
        asyncssh.IllegalUserName: SignInRefused,
        asyncssh.KeyExchangeFailed: NoCommonMethod,
        asyncssh.ProtocolNotSupported: NoCommonMethod,
        asyncssh.CompressionError: NoCommonMethod,
        asyncssh.ProtocolError: BadAnswer,
        asyncssh.MACError: BadAnswer,
    }
)
_OF_SFTP: MappingProxyType[type[asyncssh.SFTPError], type[SftpError]] = MappingProxyType(
    {
        asyncssh.SFTPPermissionDenied: NotAllowed,
        asyncssh.SFTPWriteProtect: NotAllowed,
        asyncssh.SFTPCannotDelete: NotAllowed,
        asyncssh.SFTPNoSpaceOnFilesystem: NoSpace,
        asyncssh.SFTPQuotaExceeded: NoSpace,
        asyncssh.SFTPFileAlreadyExists: NameTaken,
        asyncssh.SFTPInvalidFilename: BadName,
        asyncssh.SFTPConnectionLost: ConnectionLost,
        asyncssh.SFTPNoConnection: ConnectionLost,
        asyncssh.SFTPBadMessage: BadAnswer,
        asyncssh.SFTPInvalidHandle: BadAnswer,
        asyncssh.SFTPEOFError: BadAnswer,
    }
)
_BROKEN = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
_MISSING = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath, asyncssh.SFTPNotADirectory)


def named(error: BaseException, meanings: Meanings) -> SftpError:
    """The error of ours for one of CAUGHT."""
    if isinstance(error, asyncssh.SFTPError):
        return _of_sftp(error, meanings)
    if isinstance(error, asyncssh.ChannelOpenError):
        return meanings.channel()
    if isinstance(error, asyncssh.Error):
        return _OF_THE_LINE.get(type(error), ConnectionLost)()
    if isinstance(error, TimeoutError) and meanings.line is Unreachable:
        return TimedOut()
    if isinstance(error, _BROKEN):
        return ConnectionLost()
    if isinstance(error, OSError):
        return meanings.line()
    return BadAnswer()


def _of_sftp(error: asyncssh.SFTPError, meanings: Meanings) -> SftpError:
    if isinstance(error, _MISSING):
        return meanings.missing()
    if meanings.writes and isinstance(error, asyncssh.SFTPFailure) and _FULL.search(error.reason):
        return NoSpace()
    return _OF_SFTP.get(type(error), Refused)()
