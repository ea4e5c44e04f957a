"""What an account holder agrees to, as it is shown: the words, and the amounts they stand for.

A text that changes gets another version. The versions of texts that were shown once stay known by
the records that keep them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from common import brand, days
from common.money import format_cents
from funding.models import AuthorizationKind, AuthorizationScope, FundingSource

HOW_TO_REVOKE = (
    "In the dashboard, under Bank accounts, Authorizations. What was handed to the bank before that"
    " cannot be called back."
)
_ASSERTED_REVOCATION = f"As the text says; also: {HOW_TO_REVOKE}"


@dataclass(frozen=True, kw_only=True)
class Wording:
    """A text for people to agree to. Amounts are cents; `amount_rule` is the amount in words."""

    kind: AuthorizationKind
    scope: AuthorizationScope
    text: str
    version: str
    amount_rule: str
    amount_max: int | None = None
    monthly_max: int | None = None
    revocation: str = HOW_TO_REVOKE

    @property
    def digest(self) -> str:
        """Tells this text from any other one: what was ticked is compared with what is stored."""
        return sha256(f"{self.version}\n{self.text}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Somebody said yes to a wording: when, and from which network address."""

    wording: Wording
    accepted_at: datetime
    address: str = ""


def asserted(
    *,
    kind: AuthorizationKind,
    text: str,
    accepted_at: datetime,
    address: str,
    amount_max: int | None,
) -> Agreement:
    """What an API key says that the account holder agreed to, elsewhere. A single one is for one
    top-up, a recurring one for every debit of the account."""
    is_single = kind == AuthorizationKind.SINGLE
    most = "" if amount_max is None else f", at most {format_cents(amount_max)} each time"
    wording = Wording(
        kind=kind,
        scope=AuthorizationScope.TOPUPS if is_single else AuthorizationScope.ACCOUNT,
        text=text,
        version="",
        amount_rule=f"As the text says{most}.",
        amount_max=amount_max,
        revocation=_ASSERTED_REVOCATION,
    )
    return Agreement(wording=wording, accepted_at=accepted_at, address=address)


def one_topup(source: FundingSource, *, tenant_name: str, amount: int, now: datetime) -> Wording:
    """For a single top-up of `amount` cents."""
    day = days.day_of(now)
    text = (
        f"I authorize {brand.name()} to debit my account {_account(source)} electronically (ACH)"
        f" once, for {format_cents(amount)}, on or after {day:%B} {day.day}, {day.year}, and to add"
        f" the money to the balance of {tenant_name}."
        f" {_HOLDER.format(name=source.account_holder_name)}"
        " I can revoke this until the debit is handed to the bank, which may be within minutes:"
        " in the dashboard, under Bank accounts, Authorizations."
    )
    return Wording(
        kind=AuthorizationKind.SINGLE,
        scope=AuthorizationScope.TOPUPS,
        text=text,
        version="topup-1",
        amount_rule=f"{format_cents(amount)}, once.",
        amount_max=amount,
    )


def rule(
    source: FundingSource,
    *,
    tenant_name: str,
    amount: int,
    threshold: int,
    monthly_limit: int | None,
) -> Wording:
    """For what auto-funding draws by its settings. Amounts are cents."""
    most = format_cents(amount)
    a_month = f" and {format_cents(monthly_limit)} in a calendar month" if monthly_limit else ""
    text = (
        f"I authorize {brand.name()} to debit my account {_account(source)} electronically (ACH)"
        f" again and again, at most {most} each time{a_month}, whenever the balance of"
        f" {tenant_name} drops below the line in its auto-funding settings"
        f" ({format_cents(threshold)} now), and"
        f" to add the money to that balance. {_HOLDER.format(name=source.account_holder_name)}"
        f" A larger amount needs a new authorization. {_UNTIL_REVOKED}"
    )
    return Wording(
        kind=AuthorizationKind.RECURRING,
        scope=AuthorizationScope.AUTO_FUNDING,
        text=text,
        version="auto-funding-1",
        amount_rule=f"At most {most} each time{a_month}, whenever the balance is low.",
        amount_max=amount,
        monthly_max=monthly_limit,
    )


def standing(*, tenant_name: str, most: int, is_new: bool, name: str = "") -> Wording:
    """For the top-ups from an account that its people and programs ask for, at most `most` cents
    each. `is_new`: the account is being added on this page, so that its deposits are meant, too;
    otherwise `name` says which account it is."""
    which = "the account that I add on this page" if is_new else f"my account {name}"
    deposits = (
        " I also authorize two small deposits of less than a dollar each to it, and one debit that"
        " takes back their sum, to prove that the account is mine."
        if is_new
        else ""
    )
    limit = format_cents(most)
    text = (
        f"I authorize {brand.name()} to debit {which} electronically (ACH) for each top-up of the"
        f" balance of {tenant_name} that I, another person of its team or a program with its API"
        f" key asks for: each time the amount asked for, at most {limit}, on or after the day of"
        f" asking.{deposits} I am the holder of the account or may act for the holder."
        f" {_UNTIL_REVOKED}"
    )
    return Wording(
        kind=AuthorizationKind.RECURRING,
        scope=AuthorizationScope.TOPUPS,
        text=text,
        version=NEW_ACCOUNT if is_new else "account-1",
        amount_rule=f"The amount that is asked for, at most {limit} each time.",
        amount_max=most,
    )


# Of the text that names the deposits, too.
NEW_ACCOUNT = "new-account-1"
_UNTIL_REVOKED = (
    "This holds from today until I revoke it, which I can do at any time in the dashboard, under"
    " Bank accounts, Authorizations. What was handed to the bank before that cannot be called back."
)
_HOLDER = "I am {name}, the holder of the account, or may act for the holder."


def _account(source: FundingSource) -> str:
    bank = source.bank_name or f"with the routing number {source.routing_number}"
    return f"({bank}, {source.account_type}, ending in {source.last4})"
