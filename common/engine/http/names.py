"""Resolves names for the URL rule and for the client, and checks every address that it finds."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, ip_address

from aiohappyeyeballs import AddrInfoType

from common.engine.http.addresses import Address
from common.engine.http.urls import Policy, Target

_LOOKUP_SECONDS = 2.0
# Each lookup occupies a thread, and a tenant can have slow name servers. There are enough threads
# that one tenant does not hold up another.
_LOOKUPS_AT_ONCE = 64
_SECONDS_KEPT = 10.0


class AddressRefused(OSError):
    """An address that the policy does not permit was about to be connected to."""


class NameNotResolved(OSError):
    """The name service knows no address, or does not answer."""


def check_now(target: Target, policy: Policy) -> None:
    """Resolve the target's name and check its present addresses. Raises UrlRefused.

    Takes at most 2 s; a name that does not resolve in that time has no addresses.
    """
    if target.address is None:
        policy.check_addresses(target, _lookup(target.host, target.port))


def _lookup(host: str, port: int) -> list[Address]:
    found: list[Address] = []

    def look_up() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        found.extend(ip_address(info[4][0]) for info in infos)

    thread = threading.Thread(target=look_up, name="dns", daemon=True)
    thread.start()
    thread.join(_LOOKUP_SECONDS)
    return list(found)


class CheckedNames:
    """Looks up names in threads, keeps each answer for 10 s, and checks it at each use.

    A name is refused if any of its addresses is, so that one good address does not let a bad one
    pass.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._threads = ThreadPoolExecutor(_LOOKUPS_AT_ONCE, thread_name_prefix="dns")
        self._lookups: dict[tuple[str, int], asyncio.Future[list[AddrInfoType]]] = {}

    async def resolve(self, target: Target) -> list[AddrInfoType]:
        """The addresses to connect to for `target`. Raises AddressRefused, NameNotResolved."""
        if target.address is None:
            found = await self._look_up(target.host, target.port)
        else:
            found = [_info(target.address, target.port)]
        for info in found:
            check_dialled(self._policy, info[4], exception_only=target.needs_exception)
        return found

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _look_up(self, host: str, port: int) -> list[AddrInfoType]:
        """The addresses of `host`; requests for one name share a lookup. Raises NameNotResolved."""
        key = (host, port)
        if key not in self._lookups:
            loop = asyncio.get_running_loop()
            lookup = loop.run_in_executor(self._threads, _found, host, port)
            self._lookups[key] = lookup
            lookup.add_done_callback(partial(self._keep, key))
        try:
            return await asyncio.shield(self._lookups[key])
        except (OSError, UnicodeError) as error:
            raise NameNotResolved from error

    def _keep(self, key: tuple[str, int], lookup: asyncio.Future[list[AddrInfoType]]) -> None:
        failed = lookup.cancelled() or lookup.exception() is not None
        seconds = 0 if failed else _SECONDS_KEPT
        asyncio.get_running_loop().call_later(seconds, self._lookups.pop, key, None)


def _found(host: str, port: int) -> list[AddrInfoType]:
    return [*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _info(address: Address, port: int) -> AddrInfoType:
    is_v4 = isinstance(address, IPv4Address)
    return (
        socket.AF_INET if is_v4 else socket.AF_INET6,
        socket.SOCK_STREAM,
        socket.IPPROTO_TCP,
        "",
        (str(address), port) if is_v4 else (str(address), port, 0, 0),
    )


def check_dialled(policy: Policy, sockaddr: tuple[object, ...], *, exception_only: bool) -> None:
    """Raises AddressRefused unless a connection to `sockaddr` (address, port, …) may be made."""
    address, port = ip_address(str(sockaddr[0])), int(str(sockaddr[1]))
    if not policy.permits(address, port, exception_only=exception_only):
        raise AddressRefused("this address is not permitted")
