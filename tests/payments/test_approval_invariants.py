"""`check_ledger` finds an approval that does not fit its payment."""

from __future__ import annotations

import pytest

from tests.corruption import found, tamper


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (
            "UPDATE payments_paymentconfirmation SET decision = 'approved', decided_at = now()",
            {"payment_confirmation", "payment_answer_unwitnessed"},
        ),
        ("UPDATE payments_paymentconfirmation SET amount = amount + 1", {"payment_confirmation"}),
        (
            "UPDATE payments_payment SET confirmed_at = now(), next_attempt_at = now()",
            {"payment_confirmation"},
        ),
    ],
)
def test_the_audit_finds_an_approval_that_does_not_fit(payment, rival, damage, codes):
    tamper(damage)

    assert found(full=False) == found(full=True) == codes
    assert found(tenant_id=rival.pk) == found(full=True, tenant_id=rival.pk) == set()


def test_the_audit_finds_a_payment_nobody_was_asked_about(payment):
    tamper("DELETE FROM payments_paymentconfirmation")

    assert found(full=True) == {"payment_confirmation"}
