"""`check_ledger` finds an approval that does not fit its funding."""

from __future__ import annotations

import pytest

from approvals import answers, links
from common.clock import utc_now
from funding.models import Confirmation
from funding.services import auto_funding
from funding.services.approval_policy import POLICY
from tests.builders import make_auto_funding, make_source
from tests.corruption import found, tamper


@pytest.fixture
def approval(acme):
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=["cfo@acme.example"])
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
    return Confirmation.objects.get()


def test_nothing_is_found_while_it_waits_and_after_it_is_decided(approval):
    assert found(full=False) == found(full=True) == set()

    url = links.mint(POLICY, approval, approver_email="cfo@acme.example", now=utc_now())
    token = url.rstrip("/").rpartition("/")[2]
    answers.approve(token=token, typed_amount="500", now=utc_now())

    assert found(full=False) == found(full=True) == set()


def test_the_audit_log_names_the_amount_or_none_as_its_oldest_lines_do(approval):
    token = links.mint(POLICY, approval, approver_email="cfo@acme.example", now=utc_now())[-44:-1]
    answers.approve(token=token, typed_amount="500", now=utc_now())
    line = "UPDATE tenants_auditevent SET details = details {} WHERE action LIKE 'confirmation.%'"

    tamper(line.format("- 'amount' - 'direction' - 'bankName' - 'last4'"))
    assert found(full=False) == found(full=True) == set()

    tamper(line.format("|| '{\"amount\": 49999}'"))
    assert found(full=False) == found(full=True) == {"funding_answer_unwitnessed"}


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (
            "UPDATE funding_confirmation SET decision = 'approved', decided_at = now()",
            {"funding_confirmation", "funding_answer_unwitnessed"},
        ),
        ("UPDATE funding_confirmation SET amount = amount + 1", {"funding_confirmation"}),
    ],
)
def test_an_approval_that_does_not_fit_is_found(approval, rival, damage, codes):
    tamper(damage)

    assert found(full=False) == found(full=True) == codes
    assert found(tenant_id=rival.pk) == found(full=True, tenant_id=rival.pk) == set()


def test_a_funding_nobody_was_asked_about_is_found_by_the_full_audit(approval):
    tamper("DELETE FROM funding_confirmation")

    assert found(full=True) == {"funding_confirmation"}


def test_an_approval_left_open_is_found(approval):
    tamper("UPDATE funding_fundingtransaction SET status = 'reserved', reserved_at = now()")

    assert "funding_confirmation" in found(full=False) & found(full=True)
