"""The Python client against the real server."""

from __future__ import annotations

import asyncio
import inspect
import re
import socket
import time

import pytest
from ballast_client import (
    AsyncBallast,
    Ballast,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    InvalidSignature,
    NotFound,
    Refused,
    Unauthenticated,
    calls,
    requests,
    verify,
)
from ballast_client.types import AuthorizationIn, BankAccountIn

from common.clock import utc_now
from funding.models import DebitAuthorization, FundingTransaction
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tests import document
from tests.builders import make_key, make_source, make_tenant
from tests.funding.builders import run_due, top_up
from tests.payments.builders import fund
from tests.payments.builders import run_due as pay_due
from webhooks import signing

SUPPLIER: BankAccountIn = {
    "accountNumber": "000123456789",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier LLC",
    "accountHolderType": "business",
    "accountType": "checking",
}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant(db):
    return make_tenant()


@pytest.fixture
def source(tenant):
    return make_source(tenant)


@pytest.fixture
def ballast(live_server, tenant):
    with Ballast(make_key(tenant), base_url=live_server.url) as client:
        yield client


def operations():
    """Method and path of what the API can be asked, but for downloads; ids as `_`."""
    paths = document.load()["paths"]
    return {
        (method.upper(), re.sub(r"{[^}]+}", "_", path.removeprefix("/api/v1")))
        for path, methods in paths.items()
        for method in methods
        if not path.endswith(".csv")
    }


def test_there_is_a_call_for_every_operation():
    asked = set()
    for call in vars(calls).values():
        if inspect.isfunction(call) and not call.__name__.startswith("_"):
            needed = [
                p for p in inspect.signature(call).parameters.values() if p.default is p.empty
            ]
            arguments = {p.name: "_" for p in needed if p.kind is not p.VAR_KEYWORD}
            made = call(**arguments)
            asked.add((made.method, made.path))

    assert asked == operations()


class TestCalls:
    def test_money_in_from_link_to_balance(self, ballast, tenant):
        source = ballast.send(
            calls.link_account("processor-sandbox-acme", "acc_1", account_holder_name="Acme Inc")
        )
        funding = ballast.send(calls.top_up(25_000, funding_source_id=source["id"]))
        run_due(now=utc_now())

        assert ballast.send(calls.funding_transaction(funding["id"]))["status"] == "completed"
        assert ballast.send(calls.balance_summary())["availableBalance"] == 25_000

    def test_what_the_account_holder_agreed_to_goes_along(self, ballast):
        given: AuthorizationIn = {
            "type": "recurring",
            "text": "I agree to be debited.",
            "acceptedAt": "2026-01-05T10:00:00Z",
            "ip": "203.0.113.7",
            "maxAmount": 50_000,
        }
        source = ballast.send(
            calls.enter_account(
                account_number="000123456789",
                routing_number="021000021",
                account_holder_name="Jo Doe",
                account_holder_type="individual",
                authorization=given,
            )
        )
        ballast.send(calls.top_up(100, funding_source_id=source["id"], authorization={**given}))

        kept = DebitAuthorization.objects.values_list("amount_max", "debits__funding__amount")
        assert sorted(kept, key=str) == [(50_000, 100), (50_000, None)]

    def test_a_list_is_followed_over_its_pages(self, ballast, tenant, source):
        made = {top_up(tenant, source=source).pk for _ in range(5)}

        rows = list(ballast.each(calls.funding_transactions(limit=2)))

        assert {row["id"] for row in rows} == made
        assert len(rows) == 5

    def test_filters_may_repeat(self, ballast, tenant, source):
        top_up(tenant, source=source)

        assert len(list(ballast.each(calls.funding_transactions(status=["reserved"])))) == 1
        assert list(ballast.each(calls.funding_transactions(status=["completed", "failed"]))) == []

    def test_one_key_is_one_funding(self, ballast, source):
        call = calls.top_up(100, funding_source_id=source.pk, idempotency_key="order-7")

        first, second = ballast.send(call), ballast.send(call)

        assert first == second
        assert FundingTransaction.objects.count() == 1

    def test_money_out_to_a_saved_recipient(self, ballast, tenant):
        fund(tenant, 10_000, now=utc_now())
        saved = ballast.send(calls.save_recipient(SUPPLIER, nickname="Boxes"))
        sent = ballast.send(calls.pay(6_000, recipient=saved["id"], description="Invoice 7"))
        waits = ballast.send(calls.pay(5_000, recipient=SUPPLIER, wait_for_funds=True))
        given_up = ballast.send(calls.cancel_payment(waits["id"]))
        pay_due(now=utc_now())

        assert (saved["last4"], saved["nickname"]) == ("6789", "Boxes")
        assert (sent["status"], sent["recipientId"]) == ("created", saved["id"])
        assert (waits["status"], waits["recipientId"]) == ("waiting_for_funds", None)
        assert given_up["status"] == "canceled"
        assert ballast.send(calls.payment(sent["id"]))["status"] == "completed"
        done = list(ballast.each(calls.payments(status=["completed"], minAmount=5_999)))
        assert [row["id"] for row in done] == [sent["id"]]
        with pytest.raises(Refused) as refusal:
            ballast.send(calls.pay(4_001, recipient=saved["id"], method="rtp"))
        assert refusal.value.code == "insufficient_balance"
        assert refusal.value.extra == {"availableBalance": 4_000, "shortfall": 1}

    def test_recipients_come_and_go(self, ballast):
        saved = ballast.send(calls.save_recipient(SUPPLIER))

        assert ballast.send(calls.recipient(saved["id"])) == saved
        assert [row["id"] for row in ballast.each(calls.recipients())] == [saved["id"]]
        with pytest.raises(Conflict) as duplicate:
            ballast.send(calls.save_recipient(SUPPLIER))
        assert duplicate.value.extra == {"existingId": saved["id"]}
        ballast.send(calls.remove_recipient(saved["id"]))
        assert list(ballast.each(calls.recipients())) == []
        assert len(list(ballast.each(calls.recipients(include_removed=True)))) == 1

    def test_a_payment_that_needs_a_second_person_says_so(self, ballast, tenant):
        fund(tenant, 10_000, now=utc_now())
        approval_settings.set_threshold(
            tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=utc_now()
        )

        payment = ballast.send(calls.pay(100, recipient=SUPPLIER))
        approval = ballast.send(calls.sandbox_payment_confirmation(payment["id"]))

        assert (payment["requiresConfirmation"], payment["confirmedAt"]) == (True, None)
        assert (approval["paymentId"], len(approval["links"])) == (payment["id"], 1)

    def test_a_sandbox_tenant_plays_the_bank(self, ballast, tenant):
        fund(tenant, 10_000, now=utc_now())
        stuck: BankAccountIn = {**SUPPLIER, "accountNumber": "30001"}
        payment = ballast.send(calls.pay(100, recipient=stuck))

        done = ballast.send(calls.sandbox_payment_step(payment["id"], "complete"))

        assert done["status"] == "completed"

    def test_async_client_pays_the_same_way(self, live_server, tenant):
        fund(tenant, 10_000, now=utc_now())
        key = make_key(tenant)

        async def story():
            async with AsyncBallast(key, base_url=live_server.url) as ballast:
                saved = await ballast.send(calls.save_recipient(SUPPLIER))
                made = [
                    (await ballast.send(calls.pay(100, recipient=saved["id"])))["id"]
                    for _ in range(3)
                ]
                return made, [row["id"] async for row in ballast.each(calls.payments(limit=2))]

        made, listed = asyncio.run(story())

        assert sorted(made) == sorted(listed)

    def test_async_client_does_the_same(self, live_server, tenant, source):
        key = make_key(tenant)

        async def story():
            async with AsyncBallast(key, base_url=live_server.url) as ballast:
                call = calls.top_up(100, funding_source_id=source.pk)
                made = [(await ballast.send(call))["id"] for _ in range(3)]
                return made, [
                    row["id"] async for row in ballast.each(calls.funding_transactions(limit=2))
                ]

        made, listed = asyncio.run(story())

        assert sorted(made) == sorted(listed)


class TestErrors:
    def test_each_refusal_has_its_class_and_code(self, ballast, source):
        with pytest.raises(Refused) as above:
            ballast.send(calls.top_up(10**9, funding_source_id=source.pk))
        with pytest.raises(NotFound):
            ballast.send(calls.funding_transaction("ftx_nowhere"))
        with pytest.raises(InvalidRequest) as invalid:
            ballast.send(calls.top_up(0, funding_source_id=source.pk))

        assert above.value.code == "amount_above_limit"
        assert above.value.extra == {"limit": 100_000_000}
        assert above.value.request_id
        assert invalid.value.field_errors[0]["field"] == "amount"

    def test_a_bad_key(self, live_server):
        with (
            Ballast("bal_test_wrong", base_url=live_server.url) as ballast,
            pytest.raises(Unauthenticated) as error,
        ):
            ballast.send(calls.balance_summary())

        assert error.value.code == "invalid_token"


class TestRetries:
    def test_waits_out_the_rate_limit(self, live_server, tenant, settings):
        settings.API_READS_PER_SECOND = 2
        with Ballast(make_key(tenant), base_url=live_server.url) as ballast:
            began = time.monotonic()
            for _ in range(6):  # a burst of 4, then 2 a second
                ballast.send(calls.balance_summary())

        assert time.monotonic() - began >= 0.9

    def test_says_when_nobody_answers(self, monkeypatch):
        monkeypatch.setattr(requests, "_BACKOFF_SECONDS", (0.01, 0.01, 0.01))
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{unused.getsockname()[1]}"
            with (
                Ballast("bal_test_any", base_url=address) as ballast,
                pytest.raises(ConnectionFailed),
            ):
                ballast.send(calls.balance_summary())

    def test_a_retried_write_keeps_its_key(self):
        with Ballast("bal_test_any") as ballast:
            request = requests.build(ballast._http, calls.top_up(1, funding_source_id="fs_1"))

        assert request.headers["Idempotency-Key"]


class TestVerify:
    BODY = b'{"id":"evt_1","type":"payment.completed","data":{},"timestamp":"2026-11-20T12:00:00Z"}'
    NOW = 1_800_000_000

    def delivery(self, secret):
        return {
            "webhook-id": "evt_1",
            "webhook-timestamp": str(self.NOW),
            "webhook-signature": signing.standard_signature(
                secret, "evt_1", str(self.NOW), self.BODY
            ),
        }

    def test_takes_what_the_server_signs(self):
        secret = signing.new_secret()

        event = verify(self.BODY, self.delivery(secret), secret, now=self.NOW)

        assert event["type"] == "payment.completed"

    @pytest.mark.parametrize("late", [-301, 301])
    def test_refuses_old_and_future_deliveries(self, late):
        secret = signing.new_secret()

        with pytest.raises(InvalidSignature):
            verify(self.BODY, self.delivery(secret), secret, now=self.NOW + late)

    def test_refuses_other_bodies_secrets_and_missing_headers(self):
        secret = signing.new_secret()
        headers = self.delivery(secret)

        for body, sent, key in (
            (self.BODY + b" ", headers, secret),
            (self.BODY, headers, signing.new_secret()),
            (self.BODY, {}, secret),
            (self.BODY, {**headers, "webhook-timestamp": "soon"}, secret),
            (self.BODY, headers, "whsec_%%%"),
        ):
            with pytest.raises(InvalidSignature):
                verify(body, sent, key, now=self.NOW)
