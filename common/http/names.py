"""Resolves names for the URL rule and for the client, with every answer checked."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from aiohttp.abc import AbstractResolver, ResolveResult

from common.http.addresses import Address
from common.http.urls import Policy, Target

_LOOKUP_SECONDS = 2.0
# A lookup occupies a thread, and slow name servers belong to somebody: enough threads that one
# tenant's do not hold up another's.
_LOOKUPS_AT_ONCE = 64


class AddressRefused(OSError):
    """An address that the policy does not permit was about to be dialled."""


def check_now(target: Target, policy: Policy) -> None:
    """Resolve the target's name and check what it has now. Raises UrlRefused.

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


class CheckedResolver(AbstractResolver):
    """Refuses a name when any of its addresses is refused, so that mixed answers do not pass."""

    def __init__(self, policy: Policy, *, exception_only: bool) -> None:
        self._policy = policy
        self._exception_only = exception_only
        self._threads = ThreadPoolExecutor(_LOOKUPS_AT_ONCE, thread_name_prefix="dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises AddressRefused, or OSError when there is no answer."""
        loop = asyncio.get_running_loop()
        infos = await loop.run_in_executor(
            self._threads, socket.getaddrinfo, host, port, family, socket.SOCK_STREAM
        )
        for info in infos:
            check_dialled(self._policy, info[4], exception_only=self._exception_only)
        return [
            ResolveResult(
                hostname=host,
                host=str(sockaddr[0]),
                port=port,
                family=found_family,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for found_family, _type, proto, _name, sockaddr in infos
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def check_dialled(policy: Policy, sockaddr: tuple[object, ...], *, exception_only: bool) -> None:
    """Raises AddressRefused unless `sockaddr` (address, port, …) may be dialled."""
    address, port = ip_address(str(sockaddr[0])), int(str(sockaddr[1]))
    if not policy.permits(address, port, exception_only=exception_only):
        raise AddressRefused("this address is not permitted")
