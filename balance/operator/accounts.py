"""The operator's own accounts, and what each step of a transfer posts to them (decision 0213).

A tenant's line has its other leg on bank clearing. The operator's lines split that account: a step
is a double entry, because its name says which account is debited and which one is credited. Over
both kinds of lines, bank clearing comes to zero for every source.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import models


class OperatorAccount(models.TextChoices):
    """`settlement` is one account per rail: what the bank should have. Assets and costs grow by
    debits, what is owed and income by credits."""

    SETTLEMENT = "settlement"
    DEBITS_IN_TRANSIT = "debits_in_transit"  # drawn from account holders, and not final yet
    CREDITS_IN_TRANSIT = "credits_in_transit"  # has left for recipients, and is not final yet
    RETURNS_RECEIVABLE = "returns_receivable"  # what banks took back, or give back, by returns
    VERIFICATION_COST = "verification_cost"  # micro-deposits that nobody gave back
    BANK_FEES = "bank_fees"
    REVENUE = "revenue"
    SUSPENSE = "suspense"  # what a person has to explain
    OWN_TRANSFERS = "own_transfers"  # our money between our accounts, or from outside the books
    BANK_CLEARING = "bank_clearing"  # the other leg of the tenants' lines


class Step(models.TextChoices):
    """What happened at the bank. `in_` steps are those of money in, `out_` those of money out."""

    IN_SETTLED = "in_settled", "Money in, settled"
    IN_FINAL = "in_final", "Money in, final"
    IN_RETURNED = "in_returned", "Money in, returned"  # before it was final
    IN_RETURNED_LATE = "in_returned_late", "Money in, returned late"  # the bank takes it from us
    IN_CHARGED = "in_charged", "Money in, charged back"  # and the tenant pays it
    IN_DISHONORED = "in_dishonored", "Money in, return dishonored"  # the bank has to give it again
    IN_CREDITED_AGAIN = "in_credited_again", "Money in, credited again"  # to the tenant
    IN_CONTESTED = "in_contested", "Money in, dishonor contested"  # the bank takes it once more
    IN_CHARGED_AGAIN = "in_charged_again", "Money in, charged back again"

    OUT_SETTLED = "out_settled", "Money out, settled"
    OUT_FINAL = "out_final", "Money out, final"
    OUT_RETURNED = "out_returned", "Money out, returned"
    OUT_RETURNED_LATE = "out_returned_late", "Money out, returned late"
    OUT_GIVEN_BACK = "out_given_back", "Money out, given back"  # the tenant has it again
    OUT_DISHONORED = "out_dishonored", "Money out, return dishonored"  # it leaves us once more
    OUT_CHARGED_AGAIN = "out_charged_again", "Money out, charged again"  # to the tenant
    OUT_CONTESTED = "out_contested", "Money out, dishonor contested"  # the bank sends it back again
    OUT_GIVEN_BACK_AGAIN = "out_given_back_again", "Money out, given back again"

    VERIFICATION_PAID = "verification_paid", "Verification, paid"
    VERIFICATION_COLLECTED = "verification_collected", "Verification, collected"

    ADJUSTED_UP = "adjusted_up", "Adjustment, up"
    ADJUSTED_DOWN = "adjusted_down", "Adjustment, down"

    # What a bank statement shows and the books did not know.
    FEE_CHARGED = "fee_charged", "Fee of the bank"
    FEE_REFUNDED = "fee_refunded", "Fee given back by the bank"
    SUSPENSE_CREDITED = "suspense_credited", "Unknown credit at the bank"
    SUSPENSE_DEBITED = "suspense_debited", "Unknown debit at the bank"
    # What a line in suspense was. The bank's line itself stays matched.
    CLEARED_AS_FEE = "cleared_as_fee", "Unknown debit: a fee of the bank"
    CLEARED_AS_INCOME = "cleared_as_income", "Unknown credit: income"
    CLEARED_CREDIT = "cleared_credit", "Unknown credit: a transfer of ours"
    CLEARED_DEBIT = "cleared_debit", "Unknown debit: a transfer of ours"

    # Money of ours that people move between our accounts at banks and networks.
    MOVED_IN = "moved_in", "Own money, moved in"
    MOVED_OUT = "moved_out", "Own money, moved out"


class Pair(NamedTuple):
    """The two accounts of a step, by one amount."""

    debited: OperatorAccount
    credited: OperatorAccount

    def sign(self, account: OperatorAccount) -> int:
        """Whether the account is debited (+1), credited (-1) or not concerned (0)."""
        return (self.debited == account) - (self.credited == account)


A, S = OperatorAccount, Step

PAIRS = {
    S.IN_SETTLED: Pair(A.SETTLEMENT, A.DEBITS_IN_TRANSIT),
    S.IN_FINAL: Pair(A.DEBITS_IN_TRANSIT, A.BANK_CLEARING),
    S.IN_RETURNED: Pair(A.DEBITS_IN_TRANSIT, A.SETTLEMENT),
    S.IN_RETURNED_LATE: Pair(A.RETURNS_RECEIVABLE, A.SETTLEMENT),
    S.IN_CHARGED: Pair(A.BANK_CLEARING, A.RETURNS_RECEIVABLE),
    S.IN_DISHONORED: Pair(A.SETTLEMENT, A.RETURNS_RECEIVABLE),
    S.IN_CREDITED_AGAIN: Pair(A.RETURNS_RECEIVABLE, A.BANK_CLEARING),
    S.IN_CONTESTED: Pair(A.RETURNS_RECEIVABLE, A.SETTLEMENT),
    S.IN_CHARGED_AGAIN: Pair(A.BANK_CLEARING, A.RETURNS_RECEIVABLE),
    S.OUT_SETTLED: Pair(A.CREDITS_IN_TRANSIT, A.SETTLEMENT),
    S.OUT_FINAL: Pair(A.BANK_CLEARING, A.CREDITS_IN_TRANSIT),
    S.OUT_RETURNED: Pair(A.SETTLEMENT, A.CREDITS_IN_TRANSIT),
    S.OUT_RETURNED_LATE: Pair(A.SETTLEMENT, A.CREDITS_IN_TRANSIT),
    S.OUT_GIVEN_BACK: Pair(A.CREDITS_IN_TRANSIT, A.BANK_CLEARING),
    S.OUT_DISHONORED: Pair(A.RETURNS_RECEIVABLE, A.SETTLEMENT),
    S.OUT_CHARGED_AGAIN: Pair(A.BANK_CLEARING, A.RETURNS_RECEIVABLE),
    S.OUT_CONTESTED: Pair(A.SETTLEMENT, A.RETURNS_RECEIVABLE),
    S.OUT_GIVEN_BACK_AGAIN: Pair(A.RETURNS_RECEIVABLE, A.BANK_CLEARING),
    S.VERIFICATION_PAID: Pair(A.VERIFICATION_COST, A.SETTLEMENT),
    S.VERIFICATION_COLLECTED: Pair(A.SETTLEMENT, A.VERIFICATION_COST),
    S.ADJUSTED_UP: Pair(A.SUSPENSE, A.BANK_CLEARING),
    S.ADJUSTED_DOWN: Pair(A.BANK_CLEARING, A.SUSPENSE),
    S.FEE_CHARGED: Pair(A.BANK_FEES, A.SETTLEMENT),
    S.FEE_REFUNDED: Pair(A.SETTLEMENT, A.BANK_FEES),
    S.SUSPENSE_CREDITED: Pair(A.SETTLEMENT, A.SUSPENSE),
    S.SUSPENSE_DEBITED: Pair(A.SUSPENSE, A.SETTLEMENT),
    S.CLEARED_AS_FEE: Pair(A.BANK_FEES, A.SUSPENSE),
    S.CLEARED_AS_INCOME: Pair(A.SUSPENSE, A.REVENUE),
    S.CLEARED_CREDIT: Pair(A.SUSPENSE, A.SETTLEMENT),
    S.CLEARED_DEBIT: Pair(A.SETTLEMENT, A.SUSPENSE),
    S.MOVED_IN: Pair(A.SETTLEMENT, A.OWN_TRANSFERS),
    S.MOVED_OUT: Pair(A.OWN_TRANSFERS, A.SETTLEMENT),
}


def steps_on(account: OperatorAccount) -> list[Step]:
    """The steps that concern the account."""
    return [step for step, pair in PAIRS.items() if account in pair]


def name_of(account: OperatorAccount, rail: str) -> str:
    """An account as reports name it: `settlement:<rail>`, or its plain name."""
    return f"{account}:{rail}" if account == OperatorAccount.SETTLEMENT else str(account)


def clearing_sql(step: str) -> str:
    """SQL for how the step in this column changes bank clearing: 1 for a debit, -1 for a credit."""
    clearing = OperatorAccount.BANK_CLEARING
    arms = " ".join(
        f"WHEN '{each}' THEN {PAIRS[each].sign(clearing)}" for each in steps_on(clearing)
    )
    return f"CASE {step} {arms} ELSE 0 END"
