"""The tenant's own limit, above which a second person approves payments."""

from __future__ import annotations

import pytest

from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import NOW, mails_of
from tests.payments.asking import CHECKER, OWNER, order
from tests.payments.builders import run_due, status_of

pytestmark = pytest.mark.usefixtures("books_balance")


class TestLimit:
    def set(self, tenant, threshold):
        approval_settings.set_threshold(
            tenant_id=tenant.pk, threshold=threshold, actor=SYSTEM, now=NOW
        )

    def test_is_audited(self, rule):
        self.set(rule, 500)

        changes = AuditEvent.objects.filter(action="payments.approval_threshold_changed")
        assert [event.details for event in changes.order_by("pk")] == [
            {"from": None, "to": 1_000},
            {"from": 1_000, "to": 500},
        ]

    @pytest.mark.parametrize(
        ("threshold", "told"), [(500, []), (1_000, []), (1_001, "all"), (None, "all")]
    )
    def test_loosening_it_is_told_to_those_who_approve(self, rule, threshold, told):
        self.set(rule, threshold)

        assert mails_of(rule, "safeguard_changed") == ([CHECKER, OWNER] if told else [])

    def test_the_mail_says_what_changed(self, rule):
        self.set(rule, None)

        context = OutgoingEmail.objects.filter(template="safeguard_changed")[0].context
        assert context["changes"] == [
            {
                "what": "Payments need a second person above",
                "before": "$10.00",
                "after": "never",
            }
        ]

    def test_does_not_touch_what_was_asked_before(self, rule, payment):
        self.set(rule, None)
        run_due()

        assert status_of(payment) == "created"
        assert order(rule).requires_confirmation is False
