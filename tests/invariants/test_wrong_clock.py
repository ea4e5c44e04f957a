"""One process has a clock that is days ahead: nothing is destroyed, ended or dated by it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api import idempotency, request_log
from api.models import ApiRequest, IdempotencyRecord
from approvals import sweeps as approvals
from balance import invariants
from balance.models import BalanceTransaction, LedgerCheck
from common import database_clock, leases
from common.clock import utc_now
from funding.models import Confirmation
from funding.services import approval_sweeps, auto_funding, deposits, verifications
from funding.services.approval_policy import POLICY
from funding.states import SourceStatus
from payments.services import waiting
from tenants.actors import SYSTEM
from tenants.models import OutgoingEmail
from tenants.services import emails
from tests.api.test_conventions_idempotency import notes, post
from tests.balance.builders import balance_of, fund, statement_of
from tests.builders import NOW, make_auto_funding, make_endpoint, make_source, publish
from tests.funding.asking import BOSS, END, outcome
from tests.payments.builders import pay
from webhooks.dispatcher import claims, heartbeats, runs
from webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services import deliveries, health, retention
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture(params=[31, 400])
def ahead(request):
    """What the wrong clock says; the database knows that it is NOW."""
    with database_clock.at(NOW):
        yield NOW + request.param * DAY


@pytest.mark.usefixtures("ledger_only")
class TestPostings:
    def test_are_dated_by_the_database_and_drag_no_other(self, acme, ahead):
        first = fund(acme, 500, now=ahead)
        with database_clock.at(NOW + MINUTE):
            second = fund(acme, 300, now=NOW + MINUTE)

        assert (first.created_at, second.created_at) == (NOW, NOW + MINUTE)
        assert [row.created_at for row in BalanceTransaction.objects.order_by("sequence")] == [
            NOW,
            NOW + MINUTE,
        ]
        assert statement_of(acme)[-1] == (2, "credit", 300, 800, 0)
        assert invariants.check(now=NOW).findings == []

    def test_of_a_clock_that_is_right_keep_their_time(self, acme):
        with database_clock.at(NOW + DAY):
            assert fund(acme, 500, now=NOW).created_at == NOW

    def test_behind_are_dated_as_the_line_before(self, acme):
        fund(acme, 500, now=NOW)

        assert fund(acme, 300, now=NOW - 400 * DAY).created_at == NOW
        assert balance_of(acme) == (800, 0, 0)


class TestForgetting:
    @pytest.mark.usefixtures("machinery")
    @pytest.mark.parametrize("days", [31, 400])
    def test_no_idempotency_key_so_no_request_runs_twice(self, acme_api, days):
        post(acme_api, {"amount": 1}, key="once")

        with database_clock.at(utc_now()):
            assert idempotency.forget_old(now=utc_now() + days * DAY) == 0

        assert post(acme_api, {"amount": 1}, key="once")["Idempotent-Replayed"] == "true"
        assert (IdempotencyRecord.objects.count(), notes()) == (1, 1)

    def test_no_request_of_the_log(self, acme, acme_api, settings, ahead):
        settings.REQUEST_LOG_SECONDS = 86_400  # longer than any test: written by hand
        acme_api.get("/api/v1/balance/summary")
        request_log.flush()
        ApiRequest.objects.update(created_at=NOW - DAY)

        assert request_log.forget_old(now=ahead) == 0
        assert ApiRequest.objects.count() == 1

    def test_no_event(self, acme, ahead):
        publish(acme)

        assert retention.forget_old(now=ahead) == 0
        assert WebhookEvent.objects.count() == 1

    def test_no_clean_check_of_the_ledger(self, ahead):
        invariants.check(now=NOW)
        invariants.check(now=ahead)

        assert LedgerCheck.objects.filter(started_at=NOW).exists()

    def test_no_dispatcher_that_lives(self, ahead):
        heartbeats.beat(name="host:1", now=NOW)

        assert runs.burst_if_alone(now=ahead) is False
        assert heartbeats.is_dispatcher_alive(now=NOW)


class TestEnding:
    def test_no_reminder_to_approvers(self, acme, ahead):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=[BOSS])
        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
        approval = Confirmation.objects.get()

        assert approval_sweeps.expire_due(now=ahead) == 0
        assert approvals.remind_due(POLICY, now=END - MINUTE) == 0
        assert outcome(approval) == ("open", "", "awaiting_confirmation", "")

    def test_no_payment_that_waits_for_money(self, acme, ahead):
        payment = pay(acme, 500, wait=True)

        assert waiting.expire_due(now=ahead) == 0

        payment.refresh_from_db()
        assert payment.status == "waiting_for_funds"

    def test_no_verification_by_sweep_or_by_guess(self, acme, ahead):
        source = make_source(acme, account_number="50001")
        deposits.send_due(now=NOW)

        assert verifications.expire_due(now=ahead) == 0
        verdict = verifications.verify(
            tenant_id=acme.pk, source_id=source.pk, amounts=[11, 22], actor=SYSTEM, now=ahead
        )

        assert verdict.refusal is None
        source.refresh_from_db()
        assert source.status == SourceStatus.ACTIVE

    def test_no_endpoint_that_fails_since_an_hour(self, acme, ahead):
        endpoint = make_endpoint(
            acme, consecutive_failures=9, first_failure_at=NOW - timedelta(hours=1)
        )

        assert health.review(now=ahead) == 0
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).status == "enabled"
        assert OutgoingEmail.objects.count() == 0

    def test_no_mail_that_is_to_be_tried_tomorrow(self, ahead):
        email = OutgoingEmail.objects.create(
            to="a@b.example", template="t", created_at=NOW, next_attempt_at=NOW + DAY
        )

        assert emails.send_due(now=ahead) == 0

        email.refresh_from_db()
        assert (email.attempts, email.failed_at, email.next_attempt_at) == (0, None, NOW + DAY)


class TestLeases:
    """A worker whose clock is ahead takes no row that another one works on."""

    def test_of_rows_that_are_due_work(self, ahead):
        OutgoingEmail.objects.create(
            to="a@b.example", template="t", created_at=NOW, next_attempt_at=NOW
        )
        everything = OutgoingEmail.objects.all()
        (held,) = leases.claim(everything, now=NOW, limit=1)

        assert leases.claim(everything, now=ahead, limit=1) == []
        assert leases.finish(held)

    def test_are_no_longer_than_a_right_clock_makes_them(self, ahead):
        row = OutgoingEmail.objects.create(
            to="a@b.example", template="t", created_at=NOW, next_attempt_at=NOW
        )
        leases.claim(OutgoingEmail.objects.all(), now=ahead, limit=1, lease=MINUTE)

        row.refresh_from_db()
        assert row.leased_until == NOW + MINUTE

    def test_of_deliveries(self, acme, ahead):
        make_endpoint(acme)
        publish(acme)
        (job,) = claims.claim(slots=9, retry_slots=9, now=NOW).jobs

        assert claims.claim(slots=9, retry_slots=9, now=ahead).jobs == []
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")
        assert deliveries.put_aside(now=ahead) == 0

        delivery = WebhookDelivery.objects.get(pk=job.delivery_id)
        assert delivery.status == DeliveryStatus.PENDING
        assert delivery.leased_until == NOW + claims.LEASE

    def test_what_fails_is_tried_again_in_a_minute_and_not_next_year(self, ahead):
        row = OutgoingEmail.objects.create(
            to="a@b.example", template="no_such", created_at=NOW, next_attempt_at=NOW
        )

        assert emails.send_due(now=ahead) == 0

        row.refresh_from_db()
        assert (row.attempts, row.next_attempt_at) == (1, NOW + emails.RETRY_AFTER[0])
