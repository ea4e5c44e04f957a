"""One search of the desk: what it finds of all tenants, of kinds that the person may see. At most
eight queries, each by an index or over a bounded number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from common import ids
from common.admin import address_of
from common.fields import PrefixedIdField
from dashboard.find import pages
from dashboard.find.asked import Asked, IdSpan
from dashboard.find.hits import Group, Hit
from desk import navigation
from funding.models import FundingTransaction
from payments.models import Payment
from tenants import selectors as tenants
from tenants.models import User

SHOWN = 5  # of each group
DAYS = 90  # how far back amounts are looked for
SAME_AMOUNT_MAX = 500  # rows of one amount among which the newest are looked for
_LETTERS_MIN = 2  # of a name
_TRACE_DIGITS = 15
_SUGGESTED = 8  # pages, before anything is typed
_TRANSFERS: tuple[tuple[str, type[Any]], ...] = (("pay", Payment), ("ftx", FundingTransaction))


def groups(request: HttpRequest, asked: Asked, *, now: datetime) -> list[Group]:
    """What was found, without empty groups."""
    known = list(_pages(request))
    if not asked.text:
        return [Group("Go to", known[:_SUGGESTED])]
    found = [hit for hit in known if pages.is_called(asked.text, hit.title)]
    first = Group("Pages", found[:SHOWN])
    return [group for group in (first, *_rows(request, asked, now)) if group.hits]


def _pages(request: HttpRequest) -> Iterator[Hit]:
    for group in navigation.groups(request.user):
        for link in group.links:
            yield Hit(link.address, link.title, note=group.title)


def _rows(request: HttpRequest, asked: Asked, now: datetime) -> Iterator[Group]:
    if len(asked.text) >= _LETTERS_MIN and request.user.has_perm("tenants.view_tenant"):
        called = tenants.tenants_called(asked.text)[:SHOWN]
        yield Group("Tenants", [_tenant(row.pk, row.name, row.mode) for row in called])
    if asked.ids and not asked.ids.is_short:
        yield from _of_ids(request, asked.ids)
    for prefix, model in _TRANSFERS:
        if asked.cents and _may_see(request, model):
            since = ids.lowest(prefix, now - timedelta(days=DAYS))
            yield Group(_title(model), _of_amount(request, model, asked.cents, since))
        if _is_trace(asked.text) and _may_see(request, model):
            traced = _visible(request, model).filter(trace_number=asked.text).order_by("-pk")
            yield Group(_title(model), _hits(traced[:SHOWN]))
    if "@" in asked.text and _may_see(request, User):
        people = _visible(request, User).filter(email__startswith=asked.text.lower())
        yield Group("People", _hits(people.order_by("email")[:SHOWN]))


def _of_ids(request: HttpRequest, span: IdSpan) -> Iterator[Group]:
    """Of every model whose ids begin like that. Approvals of two kinds share a prefix."""
    for model in admin.site._registry:
        key = model._meta.pk
        is_meant = isinstance(key, PrefixedIdField) and key.prefix == span.prefix
        if is_meant and _may_see(request, model):
            rows = _visible(request, model).filter(**span.lookups).order_by("pk")
            yield Group(_title(model), _hits(rows[:SHOWN]))


def _of_amount(request: HttpRequest, model: type[Any], cents: int, first: str) -> list[Hit]:
    """The newest of this amount, from the id `first` on. The index that begins with the amount goes
    on with tenants, so all rows of the amount are read, up to a bound."""
    span = model.objects.filter(amount__gte=cents, amount__lte=cents, pk__gte=first)
    found = list(span.order_by("-amount").values_list("pk", flat=True)[: SAME_AMOUNT_MAX + 1])
    if len(found) > SAME_AMOUNT_MAX:
        title = f"More than {SAME_AMOUNT_MAX} have this amount"
        return [Hit(_list(model), title, note="Choose the tenant, or look through the list")]
    newest = sorted(found, reverse=True)[:SHOWN]
    return _hits(_visible(request, model).filter(pk__in=newest).order_by("-pk")) if newest else []


def _is_trace(text: str) -> bool:
    return len(text) == _TRACE_DIGITS and text.isascii() and text.isdecimal()


def _may_see(request: HttpRequest, model: type[Model]) -> bool:
    return admin.site._registry[model].has_view_permission(request)


def _visible(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    """As the model's list has them: without columns that the desk does not read."""
    return admin.site._registry[model].get_queryset(request)


def _hits(rows: QuerySet[Any]) -> list[Hit]:
    """Each row by its own name, with its tenant's. One query more, none for none."""
    found = list(rows)
    names = tenants.tenant_names({str(row.__dict__.get("tenant_id") or "") for row in found})
    return [_hit(row, names.get(row.__dict__.get("tenant_id") or "", "")) for row in found]


def _hit(row: Any, tenant: str) -> Hit:
    if row._meta.label_lower == "tenants.tenant":
        return _tenant(row.pk, row.name, row.mode)
    return Hit(address_of(row), str(row), note=tenant, at=getattr(row, "created_at", None))


def _tenant(pk: str, name: str, mode: str) -> Hit:
    return Hit(reverse("desk:tenant", args=[pk]), name, note=f"{capfirst(mode)} · {pk}")


def _title(model: type[Model]) -> str:
    return capfirst(str(model._meta.verbose_name_plural))


def _list(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
