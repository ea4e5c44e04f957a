"""Connections to tenants' servers. They are opened only where the policy permits, and reused for a
while."""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial

from aiohappyeyeballs import AddrInfoType, start_connection

from common.engine.http.exchange import Connection, Response
from common.engine.http.names import AddressRefused, CheckedNames, NameNotResolved, check_dialled
from common.engine.http.urls import Policy, Target

_KEEP_ALIVE_SECONDS = 5.0
# RFC 8305: if an address has not connected after so many seconds, the next one is tried beside it.
_NEXT_ADDRESS_SECONDS = 0.25

_Origin = tuple[str, str, int]


class ConnectionFailed(ConnectionError):
    """No connection could be made."""


class Connections:
    """Keeps idle connections, and gives each to one request at a time, of the origin it was made
    for."""

    def __init__(self, policy: Policy, *, tls: ssl.SSLContext, connect_seconds: float) -> None:
        self._policy = policy
        self._tls = tls
        self._connect_seconds = connect_seconds
        self._names = CheckedNames(policy)
        self._idle: dict[_Origin, dict[Connection, asyncio.TimerHandle]] = {}

    async def exchange(self, target: Target, request: bytes) -> Response:
        """Send `request` over a kept connection or a new one.

        Raises AddressRefused, NameNotResolved, ConnectionFailed, SSLError, TimeoutError, and what
        `Connection.exchange` raises.
        """
        origin = (target.scheme, target.host, target.port)
        connection = self._take(origin) or await self._dial(target)
        response = await connection.exchange(request)
        if connection.is_reusable:
            self._keep(origin, connection)
        return response

    def close(self) -> None:
        """Close the idle connections. Requests under way close theirs when they are canceled."""
        self._names.close()
        for kept in self._idle.values():
            for connection, expiry in kept.items():
                expiry.cancel()
                connection.abort()
        self._idle.clear()

    def _take(self, origin: _Origin) -> Connection | None:
        while kept := self._idle.get(origin):
            connection = next(reversed(kept))
            self._let_go(origin, connection)
            if connection.is_reusable:
                return connection
        return None

    def _keep(self, origin: _Origin, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        expiry = loop.call_later(_KEEP_ALIVE_SECONDS, self._expire, origin, connection)
        self._idle.setdefault(origin, {})[connection] = expiry

    def _expire(self, origin: _Origin, connection: Connection) -> None:
        self._let_go(origin, connection)
        connection.abort()

    def _let_go(self, origin: _Origin, connection: Connection) -> None:
        self._idle[origin].pop(connection).cancel()
        if not self._idle[origin]:
            del self._idle[origin]

    async def _dial(self, target: Target) -> Connection:
        try:
            async with asyncio.timeout(self._connect_seconds):
                return await self._connect(target)
        except (AddressRefused, NameNotResolved, TimeoutError, ssl.SSLError):
            raise
        except OSError as error:
            raise ConnectionFailed from error

    async def _connect(self, target: Target) -> Connection:
        """Open a connection. Each address is checked when its socket is made, whatever the name
        service said."""
        found = await self._names.resolve(target)
        connected = await start_connection(
            found,
            happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS,
            interleave=1,
            socket_factory=partial(self._open_socket, target),
        )
        is_secure = target.scheme == "https"
        _transport, connection = await asyncio.get_running_loop().create_connection(
            Connection,
            sock=connected,
            ssl=self._tls if is_secure else None,
            server_hostname=target.host if is_secure else None,
        )
        return connection

    def _open_socket(self, target: Target, info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _name, sockaddr = info
        check_dialled(self._policy, sockaddr, exception_only=target.needs_exception)
        return socket.socket(family=family, type=kind, proto=protocol)
