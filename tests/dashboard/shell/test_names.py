"""One name per thing, in sentence case, at the desk and in the dashboard."""

from __future__ import annotations

import re

import pytest
from django.apps import apps

from approvals.models import ApprovalStatus
from dashboard.approvals import lines as approvals
from dashboard.bank_accounts import lines as bank_account_lines
from dashboard.developers.webhooks import lines as webhook_lines
from dashboard.funding import lines as funding_lines
from dashboard.payments import lines as payment_lines
from funding.states import FundingStatus, SourceStatus
from payments.states import PaymentStatus
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


@pytest.mark.parametrize(
    ("states", "badges"),
    [
        (FundingStatus, funding_lines._FUNDING_BADGES),
        (SourceStatus, bank_account_lines._SOURCE_BADGES),
        (PaymentStatus, payment_lines.BADGES),
        (ApprovalStatus, approvals._ENDS),
        (DeliveryStatus, webhook_lines._DELIVERY_BADGES),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_staff_and_tenants_read_the_same(states, badges):
    assert {state: state.label for state in states} == {
        state: badge.label for state, badge in badges.items()
    }


class TestFilters:
    @pytest.mark.parametrize("path", ["transactions", "audit-log", "payments"])
    def test_ask_for_days_in_the_same_words(self, dana_browser, path):
        page = dana_browser.get(f"/dashboard/{path}?since=soon").content.decode()

        assert re.search(r'for="id_since"[^>]*>\s*From\s*<', page)
        assert re.search(r'for="id_until"[^>]*>\s*To\s*<', page)
        assert "A date such as 2026-11-20." in page

    @pytest.mark.parametrize("path", ["transactions", "audit-log", "payments"])
    def test_say_when_the_range_ends_before_it_begins(self, dana_browser, path):
        answer = dana_browser.get(f"/dashboard/{path}?since=2026-11-20&until=2026-11-19")

        assert b"It ends before it begins." in answer.content


def test_passwords_are_asked_for_in_sentence_case(dana, dana_browser):
    dana.set_password("correct horse battery")
    dana.save()
    dana_browser.force_login(dana, backend="django.contrib.auth.backends.ModelBackend")

    page = dana_browser.get("/accounts/password/change/", follow=True).content.decode()

    labels = re.findall(r"<label[^>]*>([^<]+)</label>", page)
    assert labels == ["Current password", "New password", "New password, again"]
