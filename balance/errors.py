"""Refusals of the ledger."""

from __future__ import annotations

from common.errors import Conflict, InvalidInput, RuleViolation, StaffRefusal
from common.money import AMOUNT_MAX


class InsufficientBalance(RuleViolation):
    """The problem document also has `available_balance` and `shortfall`, in cents."""

    code = "insufficient_balance"
    title = "Not enough available balance"
    advice = (
        "Top up by at least `shortfall` cents and try again, or send a payment with"
        " `waitForFunds: true`."
    )


class BalanceOutOfRange(RuleViolation):
    code = "balance_out_of_range"
    title = "Balance out of range"
    advice = f"A balance holds at most {AMOUNT_MAX:,} cents. Check the amount."


class PostingConflict(Conflict):
    code = "posting_conflict"
    is_public = False
    title = "Already posted with another amount"
    advice = "The same cause cannot move two amounts. Use a new source id for each amount."


class InvalidAdjustment(InvalidInput):
    code = "invalid_adjustment"
    is_public = False
    title = "Invalid adjustment"
    advice = f"Give a reason of 1 to 200 characters and an amount of 1 to {AMOUNT_MAX:,} cents."


class ProposalRefused(StaffRefusal):
    code = "proposal_refused"
    title = "Not possible"
    advice = "Two people correct a balance, with an amount and a reason."


class ProposalDecided(StaffRefusal):
    code = "proposal_decided"
    title = "Decided already"
    advice = "Look at who decided, and when."


class ProposalExpired(StaffRefusal):
    code = "proposal_expired"
    title = "Over"
    advice = "Propose it again."
