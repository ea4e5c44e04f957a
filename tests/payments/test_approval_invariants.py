"""`check_ledger` finds a question that does not fit its payment."""

from __future__ import annotations

import pytest

from balance import invariants
from tests.builders import NOW
from tests.corruption import tamper


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE payments_paymentconfirmation SET decision = 'approved', decided_at = now()",
        "UPDATE payments_paymentconfirmation SET amount = amount + 1",
        "UPDATE payments_payment SET confirmed_at = now()",
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_the_audit_finds_a_question_that_does_not_fit(payment, rival, damage, full):
    tamper(damage)
    report = invariants.check(now=NOW, full=full)
    other = invariants.check(now=NOW, full=full, tenant_id=rival.pk)

    assert {finding.code for finding in report.findings} == {"payment_confirmation"}
    assert other.findings == []


def test_the_audit_finds_a_payment_nobody_was_asked_about(payment):
    tamper("DELETE FROM payments_paymentconfirmation")
    report = invariants.check(now=NOW, full=True)

    assert {finding.code for finding in report.findings} == {"payment_confirmation"}
