"""What each page costs the database: the same for one row as for many."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, get_resolver, reverse

from api.models import ApiRequest
from balance import services as ledger
from common.clock import utc_now
from funding.models import (
    AutoFundingDecision,
    Confirmation,
    DebitAuthorization,
    FundingSource,
    FundingTransaction,
)
from funding.services import approval_sweeps
from funding.states import FundingStatus, SourceStatus
from payments.models import Payment, Recipient
from payments.services import approval_settings, orders, recipients
from tenants import session_life
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Membership, Role
from tenants.services import invitations
from tests.balance.builders import fund, movement
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
    publish,
)
from tests.funding.agreeing import agree
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import account, pay
from tests.payments.builders import run_due as run_payments
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services.deliveries import fresh_start
from webhooks.states import DeliveryStatus

# The most queries of each page, the session, the person and the memberships included.
PAGES = {
    "overview": 24,
    "overview?days=7": 24,
    "overview?days=90": 24,
    "balance_chart": 6,
    "transactions": 9,
    "transactions?type=out&since=2026-01-01": 10,
    "transactions?view=ledger": 7,
    "transactions?view=ledger&type=lock&since=2026-01-01": 8,
    "statements": 6,
    "statement": 10,
    "statement?view=ledger": 9,
    "funding": 6,
    "funding?show=failed": 6,
    "funding_detail": 17,
    "funding_retry": 14,
    "topup": 8,
    "pay": 6,
    "payments": 8,
    "payments?status=approval": 8,
    "payment_limits": 13,
    "payment_limits_edit": 5,
    "payment_cool_down": 5,
    "payment_limits_change": 6,
    "payment_approval": 7,
    "payment_approval_change": 6,
    "payment_detail": 17,
    "recipients": 5,
    "recipient": 12,
    "recipient_search?q=supplier 77": 4,
    "recipient_add": 4,
    "recipient_rename": 5,
    "recipient_remove": 5,
    "approvals": 11,
    "approval": 7,
    "auto_funding": 17,
    "auto_funding_settings": 13,
    "bank_accounts": 6,
    "bank_account_enter": 4,
    "bank_account_routing": 4,
    "bank_account_pick": 4,
    "bank_account_link": 4,
    "bank_account_authorize": 6,
    "bank_account_holder": 5,
    "bank_account_remove": 9,
    "authorizations": 6,
    "authorization": 8,
    "bank_account_verify": 6,
    "team": 7,
    "team_invite": 4,
    # With the payments of who leaves: the keys of the tenant, who had them, and the payments.
    "member_role": 9,
    "member_remove": 9,
    "settings": 10,
    "settings_retries": 5,
    "notifications": 5,
    "audit_log": 7,
    "developers": 7,
    "api_keys": 8,
    "api_key_issue": 4,
    "api_key_rotate": 5,
    # With the payments that the key ordered: who had it, and whether somebody else approves.
    "api_key_revoke": 7,
    "api_key_loosening": 5,
    "webhooks": 6,
    "webhook": 11,
    "webhook_register": 4,
    "webhook_edit": 5,
    "webhook_rotate": 5,
    "webhook_remove": 6,
    "webhook_replay": 5,
    "delivery": 11,
    "events": 8,
    "event": 10,
    "requests": 6,
    "request": 5,
    "find": 4,
    "find?q=10.00": 8,
    "find?q=supplier": 6,
}
# Reached by other methods, downloads (see the tests of each), and the change of the tenant.
NO_PAGES = {
    "approval_resend",
    "audit_log_csv",
    "authorization_revoke",
    "authorizations_csv",
    "auto_funding_pause",
    "auto_funding_preview",
    "auto_funding_resume",
    "bank_account_default",
    "delivery_resend",
    "funding_cancel",
    "invitation_resend",
    "invitation_revoke",
    "payment_cancel",
    "payments_csv",
    "statement_pdf",
    "proof_json",
    "switch_tenant",
    "team_sign_in_rule",
    "topup_check",
    "transactions_csv",
    "webhook_switch",
    "webhook_test",
}


@pytest.fixture
def source(acme):
    # It fired not long ago, which the chart of the overview shows.
    make_auto_funding(
        acme, confirm_topups=True, confirmation_threshold=1, last_triggered_at=utc_now()
    )
    fund(acme, 10_000_000)
    make_source(acme, account_number="50001")  # waits for its two deposits
    return make_source(acme)


def grow(tenant, source, rows):
    """One more of everything, `rows` times: decided and open approvals, lines, funding."""
    for _ in range(rows):
        top_up(tenant, source=source, now=utc_now())
    approval_sweeps.sweep(now=utc_now() + timedelta(days=365))
    for number in range(rows):
        _grow_developers(tenant)  # first, so that the first endpoint hears of money in and out
        _grow_money(tenant, source, f"{number}{rows}")
        email = f"person-{number}-{rows}@acme.example"
        make_member(tenant, email=email, role=Role.APPROVER)
        invitations.invite(
            tenant_id=tenant.pk,
            email=f"new-{email}",
            role=Role.VIEWER,
            actor=SYSTEM,
            now=utc_now(),
        )


def _grow_money(tenant, source, suffix):
    top_up(tenant, source=source, now=utc_now())
    make_funding(tenant, source, status=FundingStatus.FAILED)
    make_funding(tenant, source, status=FundingStatus.RESERVED, amount=1_000)
    make_source(tenant, account_number=f"50001{suffix}")
    agree(source, amount_max=1_000)
    fund(tenant, 100_000)
    ledger.lock(**movement(tenant, 100))
    payee = recipients.save(
        tenant_id=tenant.pk, details=account(f"7700{suffix}"), actor=SYSTEM, now=NOW
    )
    pay(tenant, 1_000)
    run_payments()
    run_funding()
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=NOW)
    order = orders.Order(amount=1_000, recipient=payee.pk)
    orders.place(tenant_id=tenant.pk, mode=tenant.mode, order=order, actor=SYSTEM, now=utc_now())
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=None, actor=SYSTEM, now=NOW)
    AutoFundingDecision.objects.create(
        tenant=tenant,
        outcome="declined",
        reason="no_network",
        available=0,
        in_flight=0,
        threshold=0,
        amount=1,
        created_at=NOW,
    )


def _grow_developers(tenant):
    """One more endpoint, told of the oldest event, too, and one more try of every delivery."""
    endpoint = make_endpoint(tenant, consecutive_failures=2)
    publish(tenant, now=utc_now())
    events = WebhookEvent.objects.filter(tenant=tenant)
    WebhookDelivery.objects.get_or_create(
        tenant=tenant,
        endpoint=endpoint,
        event=events.earliest("pk"),
        defaults={"created_at": NOW, **fresh_start(NOW), "status": DeliveryStatus.PENDING},
    )
    for delivery in WebhookDelivery.objects.filter(event__tenant=tenant):
        number = delivery.attempts + 1
        WebhookAttempt.objects.create(
            delivery=delivery, number=number, error="timeout", duration_ms=45, started_at=NOW
        )
        WebhookDelivery.objects.filter(pk=delivery.pk).update(attempts=number)
    make_key(tenant)
    ApiRequest.objects.create(
        tenant=tenant,
        key=ApiKey.objects.filter(tenant=tenant).earliest("pk"),
        request_id="r1",
        method="GET",
        path="/api/v1/balance/summary",
        status=404,
        duration_us=12_345,
        created_at=utc_now(),
    )


def first_rows(tenant):
    """The row that each page with an id in its address is asked for."""
    mine = {"tenant": tenant}
    rows = {
        "funding_id": FundingTransaction.objects.filter(**mine),
        "payment_id": Payment.objects.filter(**mine),
        "recipient_id": Recipient.objects.filter(**mine, is_saved=True),
        "approval_id": Confirmation.objects.filter(**mine),
        "authorization_id": DebitAuthorization.objects.filter(**mine),
        "source_id": FundingSource.objects.filter(**mine, status=SourceStatus.PENDING_VERIFICATION),
        "membership_id": Membership.objects.filter(**mine),
        "key_id": ApiKey.objects.filter(**mine),
        "endpoint_id": WebhookEndpoint.objects.filter(**mine),
        "delivery_id": WebhookDelivery.objects.filter(event__tenant=tenant),
        "event_id": WebhookEvent.objects.filter(**mine),
        "request_pk": ApiRequest.objects.filter(**mine),
    }
    return {name: found.earliest("pk").pk for name, found in rows.items()}


def path_of(page, ids):
    name, _, query = page.partition("?")
    month = {"first": NOW.date().replace(day=1)}
    for given in ({}, month, *({key: value} for key, value in ids.items())):
        try:
            return reverse(f"dashboard:{name}", kwargs=given) + (f"?{query}" if query else "")
        except NoReverseMatch:
            continue
    raise AssertionError(f"{page} needs something else in its address")


def costs(browser, ids):
    found = {}
    for page in PAGES:
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(path_of(page, ids)).status_code == 200, page
        found[page] = len(queries)
    return found


@pytest.mark.slow
def test_pages_stay_within_their_bounds_and_cost_the_same_for_many_rows(
    acme, source, dana_browser, monkeypatch
):
    # Three statements, once a minute, of whichever page it meets: this test takes longer than that.
    monkeypatch.setattr(session_life, "_NOTED_EVERY", timedelta(days=1))
    grow(acme, source, 1)
    ids = first_rows(acme)
    few = costs(dana_browser, ids)

    grow(acme, source, 8)

    many = costs(dana_browser, ids)
    assert {page: (few[page], many[page]) for page in PAGES if few[page] != many[page]} == {}
    assert {page: few[page] for page in PAGES if few[page] > PAGES[page]} == {}


def test_no_page_is_left_out():
    dashboard = get_resolver().namespace_dict["dashboard"][1]
    names = {name for name in dashboard.reverse_dict if isinstance(name, str)}

    assert names - {page.partition("?")[0] for page in PAGES} == NO_PAGES
