"""What holders of bank accounts agreed to: a list, each with its text, revoking, and a CSV file."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from dashboard.authorizations.lines import CSV_HEADER, csv_rows, line
from dashboard.shell import downloads
from dashboard.shell.access import MONEY, PageRequest, tenant_download, tenant_form, tenant_page
from dashboard.shell.paging import page
from funding import selectors
from funding.models import AuthorizedDebit, DebitAuthorization
from funding.services import debit_authorizations
from tenants import actors
from tenants import selectors as tenants

_DEBITS_SHOWN = 20

FILE = "authorizations.csv"


@require_safe
@tenant_page()
def authorizations(request: PageRequest) -> HttpResponse:
    """All of the tenant, newest first."""
    rows = selectors.authorizations(tenant_id=request.access.tenant.pk)
    debits = AuthorizedDebit.objects.filter(authorization=OuterRef("pk"))
    found = page(rows.annotate(has_served=Exists(debits)), before=request.GET.get("before", ""))
    names = _names(found.rows)
    lines = [line(row, names=names, has_served=row.has_served) for row in found.rows]
    return render(request, "dashboard/authorizations/list.html", {"lines": lines, "page": found})


@require_safe
@tenant_download(FILE)
def download(request: PageRequest) -> StreamingHttpResponse:
    """What a bank is sent that asks for proof: everything that is kept, but for account numbers."""
    rows = selectors.authorizations(tenant_id=request.access.tenant.pk)
    found = rows.prefetch_related("debits").order_by("-created_at", "-pk")
    return downloads.download(
        FILE,
        CSV_HEADER,
        csv_rows(found.iterator(chunk_size=500), names=_all_names(rows)),
        at="acceptedAt",
    )


@require_http_methods(["GET", "HEAD"])
@tenant_page()
def detail(request: PageRequest, authorization_id: str) -> HttpResponse:
    """One, with the text as it was shown and what was drawn by it."""
    row = _find(request, authorization_id)
    debits = list(selectors.debits_of(row)[: _DEBITS_SHOWN + 1])
    values = {
        "line": line(row, names=_names([row]), has_served=bool(debits)),
        "row": row,
        "debits": debits[:_DEBITS_SHOWN],
        "tests": list(selectors.test_debits_of(row)[:_DEBITS_SHOWN]),
        "has_more": len(debits) > _DEBITS_SHOWN,
    }
    return render(request, "dashboard/authorizations/detail.html", values)


@require_http_methods(["POST"])
@tenant_form(*MONEY)
def revoke(request: PageRequest, authorization_id: str) -> HttpResponse:
    row = debit_authorizations.revoke(
        tenant_id=request.access.tenant.pk,
        authorization_id=authorization_id,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    if row.ended_because == debit_authorizations.REVOKED:
        messages.success(
            request,
            "The authorization is revoked. Debits that have not gone to the bank are not sent.",
        )
    return redirect("dashboard:authorization", row.pk)


def _find(request: PageRequest, authorization_id: str) -> DebitAuthorization:
    return debit_authorizations.find(
        tenant_id=request.access.tenant.pk, authorization_id=authorization_id
    )


def _names(rows: Sequence[DebitAuthorization]) -> dict[str, str]:
    """The names of the people and keys who gave or ended them."""
    return tenants.people_and_keys(
        {*(row.accepted_by_id for row in rows), *(row.ended_by_id for row in rows)} - {""}
    )


def _all_names(rows: QuerySet[DebitAuthorization]) -> dict[str, str]:
    """The same of very many rows, which are not loaded for it."""
    pairs = rows.order_by().values_list("accepted_by_id", "ended_by_id").distinct()
    return tenants.people_and_keys({each for pair in pairs for each in pair if each})
