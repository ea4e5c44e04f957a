"""A signed-in connection, and steps over it that end in time. Every failure is an error of ours.

asyncio runs only while a step does: between steps callers may use the database, which Django
refuses inside a running loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import asyncssh

from networks.ach.sftp import failures, keys
from networks.ach.sftp.errors import BadAnswer, SftpError, TimedOut
from networks.ach.sftp.settings import SftpSettings

BYTES_PER_SECOND_MIN = 64 * 1024  # a slower line is given up
GOODBYE_SECONDS = 2
CUT_SECONDS = 1

T = TypeVar("T")

asyncssh.set_log_level("WARNING")  # at INFO it writes users, hosts and paths


class Pace:
    """How long one piece of work may wait for the bank: each step `seconds`, all of it together
    `seconds` and the time that what was moved takes on the slowest line."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds

    @property
    def step_seconds(self) -> float:
        return max(0.0, min(self._seconds, self._left))

    def spend(self, seconds: float) -> None:
        self._left -= seconds

    def earn(self, count: int) -> None:
        self._left += count / BYTES_PER_SECOND_MIN


class Steps:
    """Belongs to one thread. Raises SftpError where it is made and by every step; after time ran
    out or an answer made no sense, the line is cut."""

    def __init__(self, settings: SftpSettings, pace: Pace) -> None:
        options = _options(settings)
        self._loop = asyncio.new_event_loop()
        began = time.monotonic()
        try:
            self.connection = self._loop.run_until_complete(_sign_in(settings, options))
        except BaseException as error:
            self._end()
            if isinstance(error, failures.CAUGHT):
                raise failures.named(error, failures.OF_CONNECTING) from error
            raise
        pace.spend(time.monotonic() - began)

    def do(self, work: Coroutine[Any, Any, T], pace: Pace, meanings: failures.Meanings) -> T:
        """Do one thing within the time that is left for it."""
        task = self._loop.create_task(work)
        end = _End(self._loop, self.connection, task)
        end.after(pace.step_seconds)
        began = time.monotonic()
        try:
            return self._loop.run_until_complete(task)
        except BadAnswer:
            self.connection.abort()
            raise
        except failures.CAUGHT as error:
            if end.came:
                raise TimedOut from error
            raise self._named(error, meanings) from error
        finally:
            end.never_mind()
            pace.spend(time.monotonic() - began)

    def close(self) -> None:
        """Say goodbye if the server listens, and leave nothing behind in any case."""
        if not self._loop.is_closed():
            try:
                self._loop.run_until_complete(_goodbye(self.connection))
            finally:
                self._end()

    def _named(self, error: BaseException, meanings: failures.Meanings) -> SftpError:
        found = failures.named(error, meanings)
        if isinstance(found, BadAnswer):
            self.connection.abort()
        return found

    def _end(self) -> None:
        try:
            self._loop.run_until_complete(_end_tasks())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


class _End:
    """Ends a step when its time is over.

    It cuts the line first, which ends whatever waits for the server: merely cancelling would not,
    because asyncssh then asks the server to close what is open, and waits for that.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: asyncssh.SSHClientConnection,
        task: asyncio.Task[Any],
    ) -> None:
        self.came = False
        self._loop = loop
        self._connection = connection
        self._task = task
        self._timer: asyncio.TimerHandle | None = None

    def after(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._come)

    def never_mind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _come(self) -> None:
        if self.came:  # what waits did not notice that the line is gone
            self._task.cancel()
        self.came = True
        self._connection.abort()
        self.after(CUT_SECONDS)


async def _sign_in(
    settings: SftpSettings, options: asyncssh.SSHClientConnectionOptions
) -> asyncssh.SSHClientConnection:
    """Connect, see the host's key, prove ours."""
    work = asyncssh.connect(settings.host, settings.port, options=options, config=None)
    return await asyncio.wait_for(work, settings.connect_seconds)


def _options(settings: SftpSettings) -> asyncssh.SSHClientConnectionOptions:
    """Nothing of the machine is used: neither its configuration nor its known hosts, keys or
    agent."""
    pinned = [keys.public_key(text) for text in settings.host_keys]
    return asyncssh.SSHClientConnectionOptions(
        username=settings.user,
        known_hosts=(pinned, [], []),
        server_host_key_algs=_algorithms(pinned),
        client_keys=[keys.private_key(settings.private_key)],
        signature_algs=[*_SIGNATURES[keys.ED25519], *_SIGNATURES[keys.RSA]],
        kex_algs="-gss-*,*-sha1,rsa2048-*",
        mac_algs="-*sha1*,umac-64*",
        compression_algs=["none"],
        preferred_auth=["publickey"],
        disable_trivial_auth=True,
        login_timeout=settings.connect_seconds + CUT_SECONDS,
        **_NOTHING_ELSE,
    )


_SIGNATURES = MappingProxyType(
    {keys.ED25519: ("ssh-ed25519",), keys.RSA: ("rsa-sha2-512", "rsa-sha2-256")}
)
_NOTHING_ELSE: MappingProxyType[str, Any] = MappingProxyType(
    {
        "config": None,
        "agent_path": None,
        "agent_forwarding": False,
        "client_certs": (),
        "pkcs11_provider": None,
        "x509_trusted_certs": None,
        "x509_trusted_cert_paths": [],
        "password": None,
        "password_auth": False,
        "kbdint_auth": False,
        "host_based_auth": False,
        "gss_host": None,
        "gss_kex": False,
        "gss_auth": False,
        "tunnel": None,
        "proxy_command": None,
        "canonicalize_hostname": False,
    }
)


def _algorithms(pinned: Sequence[asyncssh.SSHKey]) -> list[str]:
    """The kinds of signature by which a host may prove its key: those of the pinned keys, the
    present one's first."""
    found = [each for key in pinned for each in _SIGNATURES[key.get_algorithm()]]
    return list(dict.fromkeys(found))


async def _goodbye(connection: asyncssh.SSHClientConnection) -> None:
    """Close a connection, within a moment."""
    connection.close()
    try:
        await asyncio.wait_for(connection.wait_closed(), GOODBYE_SECONDS)
    except TimeoutError:
        connection.abort()
        await asyncio.sleep(0)


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=GOODBYE_SECONDS)
