"""What belongs to a funding or payment and has a page of its own: its bank account, approvals,
adjustments, and what keeps it from being sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model
from django.urls import reverse

from approvals.models import Approval, ApprovalStatus
from balance import proposals
from common import ids
from common.admin import address_of
from common.money import format_cents
from dashboard.bank_accounts.names import account_name
from funding.models import FundingTransaction
from payments.models import Payment
from tenants.switches import Switch

ADJUSTMENTS_SHOWN = 20


@dataclass(frozen=True)
class Related:
    """One row on a page of its own, which `power` opens. `href` is empty where there is none."""

    text: str
    power: str
    href: str = ""
    note: str = ""
    at: datetime | None = None


def account_of(row: FundingTransaction | Payment) -> Related:
    """The bank account that the money comes from or goes to, read with `row`."""
    account = row.source if isinstance(row, FundingTransaction) else row.recipient
    return Related(account_name(account), _seeing(account), address_of(account))


def approvals_of(rows: Sequence[Approval]) -> list[Related]:
    """The approvals, each with what came of it."""
    return [
        Related(
            format_cents(row.amount),
            _seeing(row),
            address_of(row),
            note=_decision(row),
            at=row.decided_at or row.created_at,
        )
        for row in rows
    ]


def adjustments_of(row: FundingTransaction | Payment) -> list[Related]:
    """The adjustments of its tenant, proposed or made, whose reason names it. One query, over the
    adjustments of one tenant."""
    named = proposals.naming(row.pk, tenant_id=row.tenant_id)
    return [
        Related(
            f"{each.get_type_display()} of {format_cents(each.amount)}",
            _seeing(each),
            address_of(each),
            note=f"{each.get_decision_display()}: {each.reason}",
            at=each.decided_at or each.proposed_at,
        )
        for each in named[:ADJUSTMENTS_SHOWN]
    ]


def keeper_of(row: FundingTransaction | Payment) -> Related | None:
    """What keeps it from being sent: a switch, its suspended tenant, or a route. One query for a
    switch, none for the rest; None if nothing does."""
    kept_by = row.parked_for
    if ids.is_id(kept_by, "swt"):
        switch = Switch.objects.select_related("tenant").filter(pk=kept_by).first()
        return Related(str(switch), _seeing(switch), address_of(switch)) if switch else None
    if kept_by == row.tenant_id:
        address = reverse("desk:tenant", args=[row.tenant_id])
        return Related("The tenant is suspended", "tenants.view_tenant", address)
    if kept_by:
        words = "No open route leads to its network"
        return Related(words, "ach.view_achrail", reverse("desk:rails"))
    return None


def _decision(row: Approval) -> str:
    status = str(ApprovalStatus(row.decision).label).capitalize()
    who = f" by {row.decided_by}" if row.decided_by else ""
    why = f": {row.decline_reason}" if row.decline_reason else ""
    return f"{status}{who}{why}"


def _seeing(row: Model) -> str:
    return f"{row._meta.app_label}.view_{row._meta.model_name}"
