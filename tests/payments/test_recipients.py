"""Where payments go: saved accounts and those that came with a payment."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps

from common.errors import NotFound
from networks.errors import InvalidBankDetails
from payments.errors import DuplicateRecipient, RecipientRemoved
from payments.models import Payment, Recipient
from payments.services import recipients
from payments.services.orders import Order
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.database import owner
from tests.payments.builders import account, fund, funds_of, pay, run_due


def save(tenant, number="000123456789", **changes):
    return recipients.save(
        tenant_id=tenant.pk, details=account(number, **changes), actor=SYSTEM, now=NOW
    )


def pay_saved(tenant, recipient, amount=100):
    fund(tenant, amount)
    return recipients.for_payment(tenant_id=tenant.pk, given=recipient.pk, now=NOW)


class TestSaving:
    def test_keeps_the_number_encrypted(self, acme):
        recipient = save(acme)

        assert (recipient.last4, recipient.bank_name) == ("6789", "JPMorgan Chase")
        assert "000123456789" not in str(vars(recipient))
        assert recipient.in_clear().account_number == "000123456789"

    def test_the_same_account_again_is_a_duplicate(self, acme):
        first = save(acme)

        with pytest.raises(DuplicateRecipient) as refusal:
            save(acme, holder_name="Somebody Else")

        assert refusal.value.extra == {"existing_id": first.pk}
        assert Recipient.objects.count() == 1

    def test_two_tenants_may_pay_the_same_account(self, acme, rival):
        assert save(acme).pk != save(rival).pk

    def test_refuses_numbers_no_bank_has(self, acme):
        with pytest.raises(InvalidBankDetails):
            save(acme, routing_number="123456789")

        assert not Recipient.objects.exists()

    def test_is_audited_without_the_number(self, acme):
        recipient = save(acme)

        event = AuditEvent.objects.get(action="recipient.saved")
        assert event.subject_id == recipient.pk
        assert event.details == {
            "name": "Supplier LLC",
            "bankName": "JPMorgan Chase",
            "last4": "6789",
            "routingNumber": "021000021",
        }


class TestSecrecy:
    def test_the_number_is_nowhere_in_the_database_or_the_logs(self, acme, raw_log):
        """After whole lives: one that completes, one the network is down for, one returned."""
        numbers = ["4820017735", "30002", "20002"]
        fund(acme, 300)
        for number in numbers:
            pay(acme, 100, to=number)
        for minutes in range(3):
            run_due(now=NOW + timedelta(minutes=minutes))

        assert Payment.objects.exclude(status__in=("completed", "returned")).count() == 0
        with owner.as_owner():  # who reads sessions, too
            tables = [model._default_manager.values() for model in apps.get_models()]
            rows = [str(row) for table in tables for row in table]
        assert len(rows) > 30
        assert not [row for row in rows if "4820017735" in row]
        assert "4820017735" not in raw_log.text
        assert "4820017735" not in repr(Order(amount=1, recipient=account("4820017735")))


class TestRemoving:
    def test_takes_it_off_the_list_once(self, acme):
        recipient = save(acme)

        removed = [
            recipients.remove(
                tenant_id=acme.pk, recipient_id=recipient.pk, actor=SYSTEM, now=NOW
            ).removed_at
            for _ in range(2)
        ]

        assert removed == [NOW, NOW]
        assert AuditEvent.objects.filter(action="recipient.removed").count() == 1

    def test_the_account_can_be_saved_again(self, acme):
        recipient = save(acme)
        recipients.remove(tenant_id=acme.pk, recipient_id=recipient.pk, actor=SYSTEM, now=NOW)

        assert save(acme).pk != recipient.pk

    def test_of_another_tenant_is_not_found(self, acme, rival):
        with pytest.raises(NotFound):
            recipients.remove(tenant_id=acme.pk, recipient_id=save(rival).pk, actor=SYSTEM, now=NOW)


class TestPaying:
    def test_a_saved_one_is_used_as_it_is(self, acme):
        recipient = save(acme)

        assert pay_saved(acme, recipient) == recipient
        assert Recipient.objects.count() == 1

    def test_a_removed_one_is_refused(self, acme):
        recipient = save(acme)
        recipients.remove(tenant_id=acme.pk, recipient_id=recipient.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(RecipientRemoved):
            pay_saved(acme, recipient)

    def test_one_that_came_with_a_payment_is_not_on_the_list(self, acme):
        fund(acme, 100)
        unsaved = pay(acme, 100).recipient

        assert not unsaved.is_saved
        with pytest.raises(NotFound):
            pay_saved(acme, unsaved)

    def test_a_wrong_account_moves_nothing(self, acme):
        fund(acme, 100)

        with pytest.raises(InvalidBankDetails):
            pay(acme, 100, to="0000")

        assert funds_of(acme) == (100, 0)
