"""The way of a request, of the API or of a tenant's page, to the database: under a role that sees
one tenant (decisions 0167, 0175)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, Protocol, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from common.engine import sql
from common.engine.postgresql.walled import WalledWrapper


class Door(Protocol):
    """How a thread takes the role of requests, and says whose rows it is to see."""

    def open(
        self, *, only_reads: bool, tenant_id: str | None = None
    ) -> AbstractContextManager[None]: ...

    def see(self, tenant_id: str) -> None: ...


def of_api(*, only_reads: bool) -> AbstractContextManager[None]:
    """A block whose statements see no tenant, until `see` names one.

    Outside of transactions, statements share one if the block `only_reads`; each then still sees
    what was committed before it.
    """
    return _door().open(only_reads=only_reads)


def see(tenant_id: str) -> None:
    """Show the rest of the block of `of_api` the rows of this tenant, and of no other."""
    _door().see(tenant_id)


def of_tenant(tenant_id: str, *, only_reads: bool) -> AbstractContextManager[None]:
    """A block whose statements see the rows of this tenant, and of no other."""
    return _door().open(only_reads=only_reads, tenant_id=tenant_id)


def streamed(rows: Iterable[bytes], tenant_id: str) -> Iterator[bytes]:
    """Rows of this tenant that are read after the view has returned."""
    with of_tenant(tenant_id, only_reads=True):
        yield from rows


@cache
def _door() -> Door:
    return cast("Door", import_string(settings.DATABASE_API_DOOR)())


class NoDoor:
    """Of a deployment without DATABASE_API_URL: requests work under the product's own role."""

    @contextmanager
    def open(self, *, only_reads: bool, tenant_id: str | None = None) -> Iterator[None]:
        yield

    def see(self, tenant_id: str) -> None:
        """Do nothing: that role sees every tenant."""


class Login(threading.local):
    """A connection of its own for each thread, under its own login: what runs there cannot take
    the product's role, whatever it says."""

    def __init__(self) -> None:
        self._walled: WalledWrapper | None = None

    def open(
        self, *, only_reads: bool, tenant_id: str | None = None
    ) -> AbstractContextManager[None]:
        usual = connections[DEFAULT_DB_ALIAS]
        if self._walled is None:
            self._walled = WalledWrapper(_settings_of(usual.settings_dict))
        return _Open(usual, self._walled, tenant_id, only_reads=only_reads)

    def see(self, tenant_id: str) -> None:
        if self._walled is not None and connections[DEFAULT_DB_ALIAS] is self._walled:
            self._walled.see(tenant_id)


class _Open:
    """A block under the other login. It is a class because every request opens one, and a
    generator's calls between two waits for PostgreSQL cost a tenth of a posting."""

    __slots__ = ("_only_reads", "_tenant", "_usual", "_walled")

    def __init__(
        self, usual: Any, walled: WalledWrapper, tenant: str | None, *, only_reads: bool
    ) -> None:
        self._usual, self._walled = usual, walled
        self._tenant, self._only_reads = tenant, only_reads

    def __enter__(self) -> None:
        self._walled.enter(only_reads=self._only_reads)
        _use(self._walled)
        if self._tenant is None:
            return
        try:
            self._walled.see(self._tenant)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        _use(self._usual)
        self._walled.leave()


def _settings_of(usual: dict[str, Any]) -> dict[str, Any]:
    """Those of the usual connection, for the other role. A pool has a class of connections of
    its own."""
    return {**usual, **settings.DATABASE_API, "OPTIONS": dict(usual["OPTIONS"])}


def _use(wrapper: Any) -> None:
    connections[DEFAULT_DB_ALIAS] = wrapper
    sql.use_connection(wrapper)
