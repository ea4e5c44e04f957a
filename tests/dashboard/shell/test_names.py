"""One name per thing, in sentence case, at the desk and in the dashboard."""

from __future__ import annotations

import re

import pytest
from django.apps import apps

from approvals.models import ApprovalStatus
from dashboard.approvals.lines import approval_fact
from dashboard.bank_accounts.lines import bank_account_line
from dashboard.developers.webhooks.lines import delivery_line
from dashboard.funding.lines import funding_line
from dashboard.payments.lines import payment_line
from funding.models import Confirmation, FundingSource, FundingTransaction
from funding.states import FundingStatus, SourceStatus
from payments.models import Payment, Recipient
from payments.states import PaymentStatus
from tests.builders import enter_as
from webhooks.models import WebhookDelivery, WebhookEvent
from webhooks.states import DeliveryStatus

SPECIAL = {"ACH", "API", "RTP", "TOTP", "Authenticator", "WebAuthn"}
CHOICES = {
    f"{model._meta.label_lower}.{field.name}": [str(label) for _value, label in field.choices]
    for model in apps.get_models()
    for field in model._meta.fields
    if field.choices and model._meta.app_label != "admin"
}


@pytest.mark.parametrize("column", sorted(CHOICES))
def test_choices_are_in_sentence_case(column):
    for label in CHOICES[column]:
        later = re.split(r"[ :-]+", label)[1:]
        assert [word for word in later if word[:1].isupper() and word not in SPECIAL] == []
        assert "Ach" not in label
        assert "Rtp" not in label


def badge_of_funding(status):
    source = FundingSource(bank_name="JPMorgan Chase", last4="6789")
    row = FundingTransaction(status=status, method="ach_debit", trigger="topup", source=source)
    return funding_line(row).badge


def badge_of_source(status):
    row = FundingSource(status=status, account_type="checking", supported_methods=[])
    return bank_account_line(row).badge


def badge_of_payment(status):
    row = Payment(status=status, method="rtp", recipient=Recipient(account_holder_name="Supplier"))
    return payment_line(row).badge


def badge_of_approval(status):
    fact = approval_fact(Confirmation(decision=status))
    assert fact is not None
    return fact.badge


def badge_of_delivery(status):
    row = WebhookDelivery(status=status, event=WebhookEvent(type="payment.created"))
    return delivery_line(row).badge


@pytest.mark.parametrize(
    ("states", "badge_of"),
    [
        (FundingStatus, badge_of_funding),
        (SourceStatus, badge_of_source),
        (PaymentStatus, badge_of_payment),
        (ApprovalStatus, badge_of_approval),
        (DeliveryStatus, badge_of_delivery),
    ],
    ids=lambda value: value.__name__,
)
@pytest.mark.django_db
def test_staff_and_tenants_read_the_same(states, badge_of):
    """The label of the desk is what the lines of the dashboard show, not only what they know."""
    assert [badge_of(state).label for state in states] == [state.label for state in states]


class TestFilters:
    @pytest.mark.parametrize("path", ["transactions", "audit-log", "payments"])
    def test_ask_for_days_in_the_same_words(self, dana_browser, path):
        page = dana_browser.get(f"/dashboard/{path}?since=soon").content.decode()

        assert re.search(r'for="id_since"[^>]*>\s*From\s*<', page)
        assert re.search(r'for="id_until"[^>]*>\s*To\s*<', page)
        assert "Enter a date such as 2026-11-20." in page

    @pytest.mark.parametrize("path", ["transactions", "audit-log", "payments"])
    def test_say_when_the_range_ends_before_it_begins(self, dana_browser, path):
        answer = dana_browser.get(f"/dashboard/{path}?since=2026-11-20&until=2026-11-19")

        assert b"The end date is before the start date." in answer.content


def test_passwords_are_asked_for_in_sentence_case(dana, dana_browser):
    dana.set_password("correct horse battery")
    dana.save()
    enter_as(dana_browser, dana)

    page = dana_browser.get("/accounts/password/change/", follow=True).content.decode()

    labels = re.findall(r"<label[^>]*>([^<]+)</label>", page)
    assert labels == ["Current password", "New password", "New password, again"]
