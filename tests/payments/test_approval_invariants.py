"""`check_ledger` finds a question that does not fit its payment."""

from __future__ import annotations

import pytest

from tests.corruption import found, tamper


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE payments_paymentconfirmation SET decision = 'approved', decided_at = now()",
        "UPDATE payments_paymentconfirmation SET amount = amount + 1",
        "UPDATE payments_payment SET confirmed_at = now(), next_attempt_at = now()",
    ],
)
def test_the_audit_finds_a_question_that_does_not_fit(payment, rival, damage):
    tamper(damage)

    assert found(full=False) == found(full=True) == {"payment_confirmation"}
    assert found(tenant_id=rival.pk) == found(full=True, tenant_id=rival.pk) == set()


def test_the_audit_finds_a_payment_nobody_was_asked_about(payment):
    tamper("DELETE FROM payments_paymentconfirmation")

    assert found(full=True) == {"payment_confirmation"}
