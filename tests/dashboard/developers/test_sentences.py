"""What events say in sentences."""

from __future__ import annotations

import re

import pytest

from dashboard.developers.webhooks.sentences import _SENTENCES, sentence, sentences
from tests.builders import make_endpoint, make_source, publish
from tests.funding.builders import top_up
from tests.webhooks.test_published_bodies import told_in, told_of_auto_funding, told_out
from webhooks import events
from webhooks.models import WebhookDelivery, WebhookEvent

FUNDING, PAYMENT, SOURCE = "ftx_1", "pay_1", "fs_1"
NAMES = {FUNDING: "from Sandbox FCU ··6789", PAYMENT: "to Northwind", SOURCE: "Sandbox FCU ··6789"}


def money(payment_id, status="", failure_code=None, return_code=None):
    return {
        "paymentId": payment_id,
        "amount": 120_000,
        "status": status,
        "currency": "USD",
        "direction": "in" if payment_id == FUNDING else "out",
        "sequence": 1,
        "failureCode": failure_code,
        "returnCode": return_code,
        "network": None,
    }


def source(status, code=None):
    return {"fundingSourceId": SOURCE, "status": status, "lastReturnCode": code}


IN, OUT = "$1,200.00 from Sandbox FCU ··6789", "$1,200.00 to Northwind"
CASES = [
    ("payment.created", money(FUNDING, "reserved"), f"{IN} was ordered"),
    ("payment.created", money(FUNDING, "awaiting_confirmation"), f"{IN} waits for approval"),
    ("payment.created", money(PAYMENT, "created"), f"{OUT} was ordered"),
    ("payment.created", money(PAYMENT, "waiting_for_funds"), f"{OUT} waits for money"),
    ("payment.processing", money(FUNDING, "pending"), f"{IN} is on its way"),
    ("payment.processing", money(PAYMENT, "processing"), f"{OUT} is on its way"),
    ("payment.completed", money(FUNDING, "completed"), f"{IN} arrived"),
    ("payment.completed", money(PAYMENT, "completed"), f"{OUT} arrived"),
    (
        "payment.completed",
        money("ftx_2") | {"direction": "in"},
        "$1,200.00 into the balance arrived",
    ),
    ("payment.failed", money(PAYMENT, "canceled", "canceled"), f"{OUT} was canceled"),
    (
        "payment.failed",
        money(FUNDING, "failed", "confirmation_declined"),
        f"{IN} was declined by an approver",
    ),
    ("payment.failed", money(FUNDING, "failed"), f"{IN} failed"),
    ("payment.failed", money(FUNDING, "failed", "new_code"), f"{IN} failed (new_code)"),
    ("payment.failed", money(PAYMENT, "failed", "AC04"), f"{OUT} failed (AC04, account closed)"),
    (
        "payment.failed",
        money(FUNDING, "failed", "tenant_suspended"),
        f"{IN} failed: tenant suspended",
    ),
    (
        "payment.returned",
        money(FUNDING, "failed", "R01", "R01"),
        f"{IN} was returned by the bank (R01, insufficient funds)",
    ),
    ("funding_source.updated", source("active"), "Sandbox FCU ··6789 is ready to add money"),
    (
        "funding_source.updated",
        source("errored", "R02"),
        "Sandbox FCU ··6789 was refused by its bank (R02, account closed)",
    ),
    (
        "funding_source.updated",
        source("verification_failed", "R03"),
        "Sandbox FCU ··6789 could not be verified (R03, no account found)",
    ),
    ("funding_source.updated", source("removed"), "Sandbox FCU ··6789 was removed"),
    # The account keeps the code of an earlier return, which is not why it changed now.
    ("funding_source.updated", source("removed", "R01"), "Sandbox FCU ··6789 was removed"),
    (
        "funding_source.updated",
        source("active", "R01"),
        "Sandbox FCU ··6789 is ready to add money",
    ),
    (
        "auto_funding.paused",
        {"reason": "paused_by_a_person", "pausedUntil": None, "availableBalance": 1},
        "Auto-funding is paused. Somebody in your team paused it.",
    ),
    (
        "auto_funding.skipped",
        {
            "reason": "no_network",
            "availableBalance": 1,
            "lowBalanceThreshold": 2,
            "fundingAmount": 50_000,
        },
        "Auto-funding did not add $500.00. No payment network is connected yet.",
    ),
    (
        "confirmation.requested",
        {"confirmationId": "cnf_1", "paymentId": PAYMENT, "amount": 120_000, "expiresAt": ""},
        f"Approvers were asked about {OUT}",
    ),
    (
        "confirmation.requested",
        {"fundingTransactionId": FUNDING, "amount": 120_000},
        f"Approvers were asked about {IN}",
    ),
    (
        "balance.low",
        {"availableBalance": -500, "pendingBalance": 0, "lowBalanceThreshold": 10_000},
        "The balance is low: -$5.00 is available, and the threshold is $100.00",
    ),
    ("payment.completed", {}, "The money has arrived"),  # a body that lacks what is needed
    ("payment.completed", {"amount": "12"}, "The money has arrived"),
    ("funding_source.updated", source("frozen"), events.MEANINGS["funding_source.updated"]),
    ("payment.paused", money(PAYMENT), "payment.paused"),  # a type of a later release
]


@pytest.mark.parametrize(("type", "data", "said"), CASES, ids=range(len(CASES)))
def test_says_what_happened(type, data, said):
    assert sentence(type, data, NAMES) == said


def test_has_a_sentence_for_every_type():
    assert set(_SENTENCES) == set(events.ALL)
    assert {type for type, _, _ in CASES} >= set(events.ALL)


@pytest.mark.django_db
def test_says_of_everything_that_happens_more_than_its_meaning():
    """The stories of `test_published_bodies` bring about every event that there is."""
    told_in()
    told_out()
    told_of_auto_funding()
    rows = list(WebhookEvent.objects.all())

    said = {row.pk: sentences([row], tenant_id=row.tenant_id)[row.pk] for row in rows}

    assert {row.type for row in rows} == set(events.ALL)
    assert [row.type for row in rows if said[row.pk] == events.MEANINGS[row.type]] == []
    assert [text for text in said.values() if re.search(r"\w_\w|^[a-z]|None", text)] == []


@pytest.mark.django_db
def test_names_nothing_of_another_tenant(acme, rival):
    """Whatever a body says: an id of another tenant's has no name here."""
    theirs = top_up(rival, source=make_source(rival))
    event = publish(acme, payment_id=theirs.pk, sequence=99)
    row = WebhookEvent.objects.get(pk=event)

    (said,) = sentences([row], tenant_id=acme.pk).values()

    assert said.endswith(" into the balance arrived")


@pytest.mark.django_db
def test_stand_in_lists_and_on_pages(acme, dana_browser):
    endpoint = make_endpoint(acme)
    funding = top_up(acme, source=make_source(acme))
    row = WebhookEvent.objects.get(payment_id=funding.pk)
    (said,) = sentences([row], tenant_id=acme.pk).values()
    assert "··" in said
    delivery = WebhookDelivery.objects.get(event=row)

    for path in (
        "events",
        f"events/{row.pk}",
        f"webhooks/{endpoint.pk}",
        f"deliveries/{delivery.pk}",
    ):
        content = dana_browser.get(f"/dashboard/{path}").content.decode()
        assert said in content, path
        assert row.type in content, path
