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
        return RoutingAdvice("Only digits.", "bad") if digits else RoutingAdvice(_WHERE)
    if len(digits) < 9:
        return RoutingAdvice(f"{9 - len(digits)} more to type.")
    if not routing.validate(digits):
        return RoutingAdvice("No bank has this number. Compare it with the check.", "bad")
    name = routing.bank_name(digits)
    return RoutingAdvice(name or "A valid number, of a bank we do not know by name.", "good")


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
    found = ["No money can be added from it any more."]
    if config.enabled and pauses.draws_on(config, source):
        amount = format_cents(config.funding_amount or 0)
        found.append(
            f"Auto-funding takes its {amount} from it. It is paused until you choose another."
        )
    if source.is_default:
        found.append("It is the default: no other account takes its place until you choose one.")
    if is_seen:
        found.append("Plaid is told to end our access to it at the bank.")
    return [*found, "Past transactions keep its name."]


def _why_it_waits(moving: Sequence[FundingTransaction]) -> str:
    total = format_cents(sum(row.amount for row in moving))
    promised = [row.promised_date for row in moving if row.promised_date]
    if len(promised) < len(moving):
        open_ones = format_cents(sum(row.amount for row in moving if not row.promised_date))
        return (
            f"{total} of funding from it is not over, and {open_ones} of that waits for an approval"
            " or is on hold. Wait until all of it is over."
        )
    last = max(promised)
    return f"{total} is on its way from it, expected by {last:%B} {last.day}. Wait until then."
