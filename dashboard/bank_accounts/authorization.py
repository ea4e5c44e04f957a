"""Texts for a bank account whose holder no longer authorizes debits."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from common.money import format_cents
from dashboard.bank_accounts.names import account_name
from funding import agreements
from funding.agreements import Wording
from funding.models import AutoFundingConfig, FundingMethod, FundingSource
from funding.services import debit_authorizations, limits, notices, pauses
from networks import return_codes
from tenants.models import Mode, Tenant

REFUSAL = "The account holder must authorize debits again first."
# The pages that lead here, and to which the answer leads back.
_PAGES = {
    "topup": "dashboard:topup",
    "auto-funding": "dashboard:auto_funding_settings",
}


@dataclass(frozen=True)
class Notice:
    """Shown where the account was chosen; `href` leads to the question."""

    title: str
    text: str
    href: str


def notice(source: FundingSource | None, *, then: str) -> Notice | None:
    """None for an account that may be debited, and for none at all."""
    if source is None or source.authorization_ended_at is None:
        return None
    page = reverse("dashboard:bank_account_authorize", args=(source.pk,))
    return Notice(
        title=f"{account_name(source)} is not authorized",
        text=f"{answer(source)} Nothing is debited from it.",
        href=f"{page}?{urlencode({'then': then})}",
    )


def of_new_account(tenant: Tenant) -> Wording | None:
    """What the holder of an individual's account agrees to when it is added; None in the
    sandbox."""
    if tenant.mode != Mode.LIVE:
        return None
    return agreements.standing(tenant_name=tenant.name, most=_most(tenant), is_new=True)


def of_account(source: FundingSource, tenant: Tenant) -> Wording | None:
    """What the holder of this account agrees to, for top-ups from it; None where its debits need
    nothing."""
    method = FundingMethod.ACH_DEBIT
    if not debit_authorizations.is_asked_of(source, mode=tenant.mode, method=method):
        return None
    return agreements.standing(
        tenant_name=tenant.name, most=_most(tenant), is_new=False, name=account_name(source)
    )


def _most(tenant: Tenant) -> int:
    """The most that one debit may draw, cents."""
    return limits.of(tenant.pk).per_transaction[FundingMethod.ACH_DEBIT]


def answer(source: FundingSource) -> str:
    """What the bank said last, in a sentence or two."""
    code = return_codes.lookup(source.last_return_code)
    return f"The bank answered {code.code}, {code.title.lower()}: {code.meaning}"


def consequences(source: FundingSource, *, config: AutoFundingConfig) -> list[str]:
    """What to know before saying that the holder agrees again, a sentence each."""
    found = [
        return_codes.lookup(source.last_return_code).advice,
        "People and API keys can then add money from this account again.",
    ]
    if config.enabled and pauses.draws_on(config, source) and not _waits_for_it(config, source):
        amount = format_cents(config.funding_amount or 0)
        found.append(
            "Auto-funding stays paused until somebody resumes it."
            if config.paused_reason
            else f"Auto-funding adds {amount} from it whenever the balance is low."
        )
    return [
        *found,
        "The audit log records who confirmed this and when. Keep the agreement itself as well.",
    ]


def _waits_for_it(config: AutoFundingConfig, source: FundingSource) -> bool:
    """Whether such an answer of the bank is what paused auto-funding from `source`: then it can
    be resumed in the same step."""
    return (
        config.enabled
        and notices.is_end_of_authorization(config.paused_reason)
        and pauses.draws_on(config, source)
    )


def resuming(source: FundingSource, *, config: AutoFundingConfig) -> str:
    """What it means to resume auto-funding in the same step; empty where that is not the next."""
    if not _waits_for_it(config, source):
        return ""
    amount = format_cents(config.funding_amount or 0)
    threshold = format_cents(config.low_balance_threshold or 0)
    return f"It adds {amount} right away if the balance is below {threshold}."


def page_of(then: str) -> str:
    """The URL name of where somebody came from."""
    return _PAGES.get(then, "dashboard:bank_accounts")
