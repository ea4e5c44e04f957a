"""What a bank account's numbers say while they are typed, and what removing it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.money import format_cents
from funding.models import AutoFundingConfig, FundingSource, FundingTransaction
from funding.services import pauses
from networks import routing

_WHERE = "Nine digits, at the bottom left of a check."


@dataclass(frozen=True)
class RoutingAdvice:
    """`tone` is good, bad, or plain while nothing can be said yet."""

    text: str
    tone: str = "plain"


def routing_advice(text: str) -> RoutingAdvice:
    """What is known about a routing number, whole or half typed."""
    digits = "".join(text.split())
    if not digits.isascii() or not digits.isdigit():
        return RoutingAdvice("Enter digits only.", "bad") if digits else RoutingAdvice(_WHERE)
    if len(digits) < 9:
        more = 9 - len(digits)
        return RoutingAdvice(f"{more} more {'digit' if more == 1 else 'digits'} to enter.")
    if not routing.validate(digits):
        return RoutingAdvice("No bank has this number. Compare it with the check.", "bad")
    name = routing.bank_name(digits)
    return RoutingAdvice(name or "This number is valid. We do not know its bank by name.", "good")


def removal(
    source: FundingSource,
    *,
    config: AutoFundingConfig,
    moving: Sequence[FundingTransaction],
    is_seen: bool,
) -> list[str]:
    """What removing it does, a sentence each. While money moves from it, only why it must wait.

    `is_seen`: a consent at the bank-linking provider lets us see the account.
    """
    if moving:
        return [_why_it_waits(moving)]
    found = ["You can no longer add money from this account."]
    if config.enabled and pauses.draws_on(config, source):
        amount = format_cents(config.funding_amount or 0)
        found.append(
            f"Auto-funding adds its {amount} from this account. It is paused until you choose"
            " another."
        )
    if source.is_default:
        found.append("This is your default account. None replaces it until you choose another.")
    if is_seen:
        found.append("We tell Plaid to end our access to the account.")
    return [*found, "Past transactions still show its name."]


def _why_it_waits(moving: Sequence[FundingTransaction]) -> str:
    total = format_cents(sum(row.amount for row in moving))
    promised = [row.promised_date for row in moving if row.promised_date]
    if len(promised) < len(moving):
        open_ones = format_cents(sum(row.amount for row in moving if not row.promised_date))
        return (
            f"Top-ups of {total} from this account are not finished, and {open_ones} of that is"
            " waiting for approval or on hold. You can remove the account once all of them are"
            " finished."
        )
    last = max(promised)
    return (
        f"{total} is on its way from this account and expected by {last:%B} {last.day}. You can"
        " remove the account after that."
    )
