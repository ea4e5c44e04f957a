"""A program that changes its mind again and again fills nobody's mailbox."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import requests
from approvals.models import ApprovalStatus
from funding.models import Confirmation
from funding.services import approvals, auto_funding_config
from tenants.actors import api_key, user
from tenants.models import OutgoingEmail
from tenants.services import emails
from tests.builders import NOW, make_auto_funding, make_source

KEY = api_key("key_1")
BOSS, CFO = "boss@acme.example", "cfo@acme.example"
MINUTE = timedelta(minutes=1)


def ask(tenant, amount, now):
    """New terms of auto-funding: the open approval is withdrawn, and another one asked."""
    auto_funding_config.configure(
        tenant_id=tenant.pk, changes={"funding_amount": amount}, actor=KEY, now=now
    )


def test_twenty_approvals_a_day_are_mailed_at_once():
    assert requests.WITHDRAWN_A_DAY_MAX == 20


@pytest.fixture
def restless(acme, monkeypatch):
    """Whose key has asked as many approvals as are mailed at once, one a minute."""
    monkeypatch.setattr(requests, "WITHDRAWN_A_DAY_MAX", 4)
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=[BOSS, CFO])
    for number in range(requests.WITHDRAWN_A_DAY_MAX):
        ask(acme, 50_001 + number, NOW + number * MINUTE)
        emails.send_due(now=NOW + number * MINUTE)
    return acme


def after(minutes):
    return NOW + (requests.WITHDRAWN_A_DAY_MAX + minutes) * MINUTE


def mailed():
    """How many mails went out, by template."""
    sent = OutgoingEmail.objects.exclude(sent_at=None).values_list("template", flat=True)
    return {name: list(sent).count(name) for name in sorted(set(sent))}


class TestTheBound:
    def test_is_reached_by_one_mail_each_time_and_approver(self, restless):
        asked = 2 * requests.WITHDRAWN_A_DAY_MAX

        assert mailed() == {"confirmation_decided": asked - 2, "confirmation_request": asked}

    def test_lets_nothing_out_that_does_not_stay(self, restless):
        before = mailed()

        # What was open is withdrawn, which its approvers are told; the next ones nobody hears of.
        for number in range(1, 5):
            ask(restless, 60_000 + number, after(number))
        emails.send_due(now=after(5))

        withdrawn = {"confirmation_decided": before["confirmation_decided"] + 2}
        assert mailed() == {**before, **withdrawn}

    def test_lets_out_what_stays_for_an_hour(self, restless):
        before = mailed()["confirmation_request"]
        for number in range(1, 5):
            ask(restless, 60_000 + number, after(number))

        emails.send_due(now=after(65))

        assert mailed()["confirmation_request"] == before + 2
        open_one = Confirmation.objects.get(decision=ApprovalStatus.OPEN)
        assert open_one.amount == 60_004
        late = OutgoingEmail.objects.filter(template="confirmation_request", sent_at=after(65))
        assert {mail.context["confirmation_id"] for mail in late} == {open_one.pk}

    def test_ends_a_day_later(self, restless):
        ask(restless, 70_000, NOW + timedelta(days=2))

        emails.send_due(now=NOW + timedelta(days=2))

        assert mailed()["confirmation_request"] == 2 * (requests.WITHDRAWN_A_DAY_MAX + 1)

    def test_does_not_keep_a_person_from_sending_it_now(self, restless):
        ask(restless, 60_000, after(1))
        approval = Confirmation.objects.get(decision=ApprovalStatus.OPEN)

        told = approvals.resend(
            tenant_id=restless.pk,
            funding_id=approval.funding_id,
            actor=user("usr_dana"),
            now=after(2),
        )

        assert told == [BOSS, CFO]

    def test_is_each_tenants_own(self, restless, rival):
        make_source(rival)
        make_auto_funding(rival, confirmation_threshold=0, confirmation_emails=[BOSS])

        ask(rival, 50_001, after(1))

        mail = OutgoingEmail.objects.get(tenant=rival, template="confirmation_request")
        assert mail.next_attempt_at == after(1)
