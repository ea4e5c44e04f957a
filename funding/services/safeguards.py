"""What loosens a safeguard of auto-funding, which keys may do it, and who is told: those who
approved before, by e-mail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from common import clock, lookalikes
from common.money import format_cents
from funding.errors import LooseningNotAllowed, TooManySafeguardChanges
from funding.models import AutoFundingConfig
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Role
from tenants.services import emails, key_switches

MAIL = "safeguard_changed"
# For changes by a tenant's API keys. Each change is mailed to every approver of before.
MAILS_A_DAY_MAX = 100


def require_allowed(*, before: AutoFundingConfig, after: AutoFundingConfig, actor: Actor) -> None:
    """Refuse to loosen anything by a live key whose owner turned that off, also before settings
    were ever saved. One query, and only where something is loosened.

    Raises LooseningNotAllowed.
    """
    changes = [change["what"] for change in loosened(before, after)]
    if changes and not key_switches.may_loosen_auto_funding(actor=actor):
        raise LooseningNotAllowed(
            "The switch `may loosen auto-funding` of this API key is off, and this would protect"
            f" less: {', '.join(changes)}. A person may change it in the dashboard, or an owner"
            " turn the switch on there under API keys."
        )


def warn(
    *,
    before: AutoFundingConfig,
    after: AutoFundingConfig,
    approvers: list[str],
    actor: Actor,
    now: datetime,
) -> None:
    """Mail what was loosened, if anything, to those who were asked for approval until now, and to
    the owners, who may have named others.

    Raises TooManySafeguardChanges: a change without its warning is not allowed.
    """
    changes = list(loosened(before, after))
    told = {*approvers, *tenants.member_emails(tenant_id=after.tenant_id, roles=(Role.OWNER,))}
    if not changes or not told:
        return
    if actor.type == ActorType.API_KEY:
        _require_pace(after.tenant_id, now)
    changed_by = tenants.name_of(actor)
    for address in sorted(told):
        emails.queue(
            tenant_id=after.tenant_id,
            to=address,
            template=MAIL,
            context={
                "tenant_name": after.tenant.name,
                "changed_by": changed_by,
                "changed_at": clock.text_of(now),
                "changes": changes,
                "approver_email": address,
            },
            now=now,
        )


def loosened(before: AutoFundingConfig, after: AutoFundingConfig) -> Iterator[dict[str, str]]:
    """Each safeguard that protects less than before, in words."""
    if _is_looser(before.confirmation_threshold, after.confirmation_threshold):
        yield _change(
            "Approval is needed above",
            _cents(before.confirmation_threshold),
            _cents(after.confirmation_threshold),
        )
    elif _is_asked_about(before) and not _is_asked_about(after):
        yield _change(
            "An amount that needs approval",
            _cents(before.funding_amount),
            f"{_cents(after.funding_amount)}, which needs none",
        )
    if _is_looser(before.monthly_limit, after.monthly_limit):
        yield _change("Monthly limit", _cents(before.monthly_limit), _cents(after.monthly_limit))
    if set(before.confirmation_emails) != set(after.confirmation_emails):
        yield _change(
            "Who approves",
            _people(before.confirmation_emails),
            _people(after.confirmation_emails),
        )
    if before.confirm_topups and not after.confirm_topups:
        yield _change("Top-ups need approval, too", "yes", "no")


def _is_asked_about(config: AutoFundingConfig) -> bool:
    """Whether people are asked before the amount of these settings is added."""
    amount, threshold = config.funding_amount, config.confirmation_threshold
    return amount is not None and threshold is not None and amount > threshold


def _require_pace(tenant_id: str, now: datetime) -> None:
    """Raises TooManySafeguardChanges when too many warnings were mailed within a day."""
    if emails.queued_within_a_day(tenant_id=tenant_id, template=MAIL, now=now) >= MAILS_A_DAY_MAX:
        raise TooManySafeguardChanges(
            f"{MAILS_A_DAY_MAX} warnings about loosened safeguards were mailed within a day."
        )


def _is_looser(before: int | None, after: int | None) -> bool:
    """Whether a limit in cents was raised or taken away."""
    return before is not None and (after is None or after > before)


def _change(what: str, before: str, after: str) -> dict[str, str]:
    return {"what": what, "before": before, "after": after}


def _cents(amount: int | None) -> str:
    return "no limit" if amount is None else format_cents(amount)


def _people(addresses: list[str]) -> str:
    return ", ".join(map(lookalikes.spelled, addresses)) or "owners and approvers"
