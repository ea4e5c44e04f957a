"""The Python client against the real server."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from ballast_client import (
    AsyncBallast,
    Ballast,
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

from common.clock import utc_now
from funding.models import FundingTransaction
from tests.builders import make_key, make_source, make_tenant
from tests.funding.builders import run_due, top_up
from webhooks import signing

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


class TestCalls:
    def test_money_in_from_link_to_balance(self, ballast, tenant):
        source = ballast.send(
            calls.link_account("processor-sandbox-acme", "acc_1", account_holder_name="Acme Inc")
        )
        funding = ballast.send(calls.top_up(25_000, funding_source_id=source["id"]))
        run_due(now=utc_now())

        assert ballast.send(calls.funding_transaction(funding["id"]))["status"] == "completed"
        assert ballast.send(calls.balance_summary())["availableBalance"] == 25_000

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
