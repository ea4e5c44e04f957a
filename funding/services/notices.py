"""What a tenant is told about its funding: e-mails to its people, events to its programs.

Everything is written into outboxes in the caller's transaction.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from balance import selectors as balances
from common import clock
from funding.models import (
    AutoFundingConfig,
    DebitAuthorization,
    FundingSource,
    FundingTransaction,
)
from networks import return_codes
from tenants import selectors as tenants
from tenants.models import ActorType, Role, Tenant
from tenants.services import emails
from webhooks.bodies import AutoFundingPaused, AutoFundingSkipped, BalanceLow
from webhooks.services import events

# Why auto-funding is paused, each with what happened and what to do; RETURNED goes before a code.
AFTER_FAILURE = "waiting_after_failure"
RUNAWAY = "too_many_firings"
BY_A_PERSON = "paused_by_a_person"
SOURCE_REMOVED = "funding_source_removed"
AUTHORIZATION_REVOKED = "authorization_revoked"
RETURNED = "bank_returned_"
PAUSES = {
    AFTER_FAILURE: (
        "The last automatic top-up failed or was canceled.",
        "We try again automatically.",
    ),
    RUNAWAY: (
        "It added money three times within ten minutes.",
        "Find out what lowers the balance, then switch auto-funding on again.",
    ),
    BY_A_PERSON: (
        "Somebody in your team paused it.",
        "Resume it when it should add money again.",
    ),
    SOURCE_REMOVED: (
        "The bank account it used was removed.",
        "Choose another bank account and switch auto-funding on again.",
    ),
    AUTHORIZATION_REVOKED: (
        "The account holder revoked the authorization to debit the bank account.",
        "Authorize it again in the settings of auto-funding, or choose another bank account.",
    ),
}
_UNKNOWN_PAUSE = ("Somebody has to look at it.", "Switch auto-funding on again when it is settled.")


def paused(*, config: AutoFundingConfig, available: int, now: datetime) -> None:
    """Tell the tenant that `config` was just paused. `available` is cents."""
    sentence, advice = explain_pause(config.paused_reason)
    until = config.paused_until and clock.text_of(config.paused_until)
    facts = {"reason": sentence, "advice": advice, "paused_until": until, "available": available}
    _mail_people(config.tenant, "auto_funding_paused", facts, now)
    events.publish_notice(
        tenant_id=config.tenant_id,
        data=AutoFundingPaused(
            reason=config.paused_reason,
            paused_until=config.paused_until,
            available_balance=available,
        ),
        now=now,
    )


def is_pause(reason: str) -> bool:
    """Whether `reason` is one for which auto-funding is paused."""
    return reason in PAUSES or reason.startswith(RETURNED)


def is_end_of_authorization(reason: str) -> bool:
    """Whether it paused because the bank said that debits are not authorized."""
    code = reason.removeprefix(RETURNED)
    return code != reason and return_codes.lookup(code).ends_authorization


def explain_pause(reason: str) -> tuple[str, str]:
    """Two sentences for people: what happened, and what to do about it."""
    if not reason.startswith(RETURNED):
        return PAUSES.get(reason, _UNKNOWN_PAUSE)
    code = return_codes.lookup(reason.removeprefix(RETURNED))
    sentence = f"The bank answered {code.code}, {code.title.lower()}: {code.meaning}"
    if code.ends_authorization:
        return sentence, f"{code.advice} Then resume it in the dashboard: an API key cannot."
    return sentence, f"{code.advice} Then switch auto-funding on again."


def skipped(*, tenant: Tenant, data: AutoFundingSkipped, detail: str, now: datetime) -> None:
    """Tell the tenant that money was needed and not added. `detail` is a sentence that says why."""
    facts = {
        "reason": detail,
        "available": data.available_balance,
        "threshold": data.low_balance_threshold,
        "amount": data.funding_amount,
    }
    _mail_people(tenant, "auto_funding_skipped", facts, now)
    events.publish_notice(tenant_id=tenant.pk, data=data, now=now)


def returned(*, funding: FundingTransaction, now: datetime) -> None:
    """Tell people that the bank sent a funding back. Programs get the event `payment.returned`."""
    code = return_codes.lookup(funding.return_code)
    facts = {
        "amount": funding.amount,
        "bank_name": funding.source.bank_name,
        "last4": funding.source.last4,
        "return_code": code.code,
        "return_reason": code.title,
        "advice": f"{code.meaning} {code.advice}",
        "was_completed": funding.completed_at is not None,
        "available": balances.summary(funding.tenant_id).available,
        "funding_transaction_id": funding.pk,
    }
    _mail_people(tenants.tenant(funding.tenant_id), "funding_returned", facts, now)


def authorized(*, authorization: DebitAuthorization, source: FundingSource, now: datetime) -> None:
    """Mail a copy of what was agreed to the person who gave it and to the owners."""
    owners = tenants.member_emails(tenant_id=source.tenant_id, roles=(Role.OWNER,))
    giver = tenants.people_and_keys([authorization.accepted_by_id])
    is_person = authorization.accepted_by_type == ActorType.USER
    facts = {
        "tenant_name": tenants.tenant(source.tenant_id).name,
        "authorization_id": authorization.pk,
        "bank_name": source.bank_name,
        "last4": source.last4,
        "holder_name": source.account_holder_name,
        "text": authorization.text,
        "amount_rule": authorization.amount_rule,
        "accepted_at": clock.text_of(authorization.accepted_at),
        "given_by": giver.get(authorization.accepted_by_id, ""),
        "revocation": authorization.revocation,
    }
    for address in sorted({*owners, *(giver.values() if is_person else ())}):
        emails.queue(
            tenant_id=source.tenant_id,
            to=address,
            template="authorization_copy",
            context=facts,
            now=now,
        )


def corrected(*, source: FundingSource, was: str, what: str, now: datetime) -> None:
    """Tell people that the bank of an account corrected `what`. `was`: the digits that they knew
    the account by. Programs get the event `funding_source.updated`."""
    facts = {
        "is_recipient": False,
        "bank_name": source.bank_name,
        "last4": source.last4,
        "was": was,
        "what": what,
        "account_id": source.pk,
    }
    _mail_people(tenants.tenant(source.tenant_id), "account_corrected", facts, now)


def low(*, tenant: Tenant, data: BalanceLow, now: datetime) -> None:
    """Tell the tenant that the balance fell below the threshold."""
    facts = {
        "available": data.available_balance,
        "pending": data.pending_balance,
        "threshold": data.low_balance_threshold,
    }
    _mail_people(tenant, "balance_low", facts, now)
    events.publish_notice(tenant_id=tenant.pk, data=data, now=now)


def _mail_people(tenant: Tenant, template: str, facts: dict[str, Any], now: datetime) -> None:
    context = {"tenant_name": tenant.name, **facts}
    emails.queue_notice(tenant_id=tenant.pk, template=template, context=context, now=now)
