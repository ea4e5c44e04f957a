"""API keys as lists show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.shell.badges import Badge
from tenants import persons, scopes, selectors
from tenants.models import ApiKey

_SOON = timedelta(days=7)


@dataclass(frozen=True)
class KeyLine:
    """One key; `prefix` is its readable beginning, the rest is kept nowhere. `may_loosen`: it may
    let auto-funding protect less. `maker` names
    the person behind it, empty where the list does not say it or nobody is."""

    id: str
    name: str
    prefix: str
    scopes: str
    networks: str
    may_loosen: bool
    badge: Badge
    is_usable: bool
    expires_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime
    maker: str


def key_line(row: ApiKey, *, now: datetime, maker: str = "") -> KeyLine:
    return KeyLine(
        id=row.pk,
        name=row.name,
        prefix=row.prefix,
        scopes="Everything" if set(row.scopes) == set(scopes.ALL) else ", ".join(row.scopes),
        networks=", ".join(row.allowed_networks),
        may_loosen=row.may_loosen_auto_funding,
        badge=_badge(row, now),
        is_usable=_is_usable(row, now),
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        created_at=row.created_at,
        maker=maker,
    )


def key_lines(rows: Sequence[ApiKey], *, now: datetime) -> list[KeyLine]:
    """The keys with their makers. Two queries."""
    makers = persons.makers([row.pk for row in rows])
    names = selectors.names_for_tenants(set(makers.values()))
    return [key_line(row, now=now, maker=names.get(makers.get(row.pk, ""), "")) for row in rows]


def _is_usable(row: ApiKey, now: datetime) -> bool:
    return row.revoked_at is None and (row.expires_at is None or row.expires_at > now)


def _badge(row: ApiKey, now: datetime) -> Badge:
    if row.revoked_at is not None:
        return Badge("Revoked")
    if not _is_usable(row, now):
        return Badge("Expired")
    if row.expires_at is not None and row.expires_at - now <= _SOON:
        return Badge("Expires soon", "warn")
    return Badge("Active", "good")
