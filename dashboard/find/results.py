"""One search: what it finds of the tenant, in groups. At most five queries, each by an index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from api import request_log
from common import ids
from dashboard.find import hits, kinds, pages
from dashboard.find.asked import Asked
from dashboard.find.hits import Group, Hit
from dashboard.shell.access import TenantAccess
from funding import selectors as funding
from payments import selectors as payments

SHOWN = 5  # of each group
DAYS = 90  # how far back amounts are looked for
_SUGGESTED = 8  # pages, before anything is typed
_LETTERS_MIN = 2  # of a name


def groups(access: TenantAccess, asked: Asked, *, now: datetime) -> list[Group]:
    """What was found, without empty groups."""
    if not asked.text:
        shown = pages.for_role(access.role)[:_SUGGESTED]
        return [Group("Go to", [hits.of_page(page) for page in shown])]
    return [group for group in _groups(access, asked, now) if group.hits]


def _groups(access: TenantAccess, asked: Asked, now: datetime) -> Iterator[Group]:
    tenant_id, since = access.tenant.pk, now - timedelta(days=DAYS)
    found = pages.called(asked.text, role=access.role)[:SHOWN]
    yield Group("Pages", [hits.of_page(page) for page in found])
    if asked.ids and not asked.ids.is_short:
        for kind in kinds.named(asked.ids.prefix, role=access.role):
            rows = kind.rows(tenant_id).filter(**asked.ids.lookups).order_by("pk")[:SHOWN]
            yield Group(kind.title, [kind.hit(row) for row in rows])
    if asked.cents:
        yield from _of_amount(tenant_id, asked.cents, since)
    if len(asked.text) >= _LETTERS_MIN:
        kept = payments.recipients_called(asked.text, tenant_id=tenant_id)[:SHOWN]
        yield Group("Recipients", [hits.of_recipient(row) for row in kept])
    yield Group("API requests", _requests(tenant_id, asked))


def _of_amount(tenant_id: str, cents: int, since: datetime) -> Iterator[Group]:
    paid = _newest(payments.payments(tenant_id=tenant_id), cents, ids.lowest("pay", since))
    yield Group("Payments", [hits.of_payment(row) for row in paid])
    added = _newest(funding.attempts(tenant_id=tenant_id), cents, ids.lowest("ftx", since))
    yield Group("Funding", [hits.of_funding(row) for row in added])


def _newest(rows: QuerySet[Any, Any], cents: int, first: str) -> QuerySet[Any, Any]:
    """The newest of this amount, from the id `first` on: ids sort by time.

    Bounds and the order name the amount, so that only the index that begins with it has that order.
    With `amount=cents` PostgreSQL might walk along the ids of all tenants.
    """
    bounded = rows.filter(amount__gte=cents, amount__lte=cents, pk__gte=first)
    return bounded.order_by("-amount", "-pk")[:SHOWN]


def _requests(tenant_id: str, asked: Asked) -> list[Hit]:
    """Those with this `X-Request-Id`. A caller may repeat one as often as it likes, so they are
    not sorted."""
    if not asked.is_word:
        return []
    rows = request_log.requests(tenant_id=tenant_id).filter(request_id=asked.text)
    return [hits.of_request(row) for row in rows[:SHOWN]]
