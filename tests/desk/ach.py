"""A bank that is connected, as its rail and what an operator said of it."""

from __future__ import annotations

from typing import Any

from desk import doers
from desk.rails import acts
from networks.ach.models import AchProposal, AchRail
from networks.ach.originating import Company
from networks.ach.terms import RailTerms
from networks.rails.models import RailKind
from tests.builders import NOW

RAIL = "first_bank"
TERMS: dict[str, Any] = {
    "odfi_routing": "091000019",
    "immediate_destination": " 091000019",
    "immediate_destination_name": "FIRST BANK",
    "immediate_origin": "1234567890",
    "immediate_origin_name": "BALLAST",
    "company_id": "1234567890",
    "company_name": "BALLAST",
    "descriptions": {"topup": "TOPUP", "payment": "PAYMENT"},
    "cutoffs": [{"at": "10:00", "same_day": True}, {"at": "19:45", "same_day": False}],
    "active": True,
}
OPERATOR = doers.operator("Olga")


def terms(**changes: Any) -> RailTerms:
    return RailTerms.parse({**TERMS, **changes})


def make_rail(name: str = RAIL, *, account: str | None = None, **changes: Any) -> AchRail:
    """A rail whose terms one operator set, with a company for all tenants. `account` is ours at
    the bank, of a rail with balanced files."""
    acts.change_alone(
        rail=name,
        kind=RailKind.STAND_IN,
        terms=terms(**changes),
        offset_account=account,
        reason="First bank",
        doer=OPERATOR,
        now=NOW,
    )
    acts.assign_alone(
        rail=name,
        tenant_id="",
        company=Company(company_name="BALLAST", company_id="1234567890"),
        reason="For all",
        doer=OPERATOR,
        now=NOW,
    )
    return AchRail.objects.get(pk=name)


def approve(browser: Any) -> None:
    """The second person approves what waits for one."""
    (row,) = AchProposal.objects.filter(status="proposed")
    browser.post(f"/admin/desk/proposals/{row.pk}/", {"decision": "approve"})
