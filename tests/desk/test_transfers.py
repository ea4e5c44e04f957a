"""One funding, one payment at the desk: the whole chain, for who may see it."""

from __future__ import annotations

import pytest

from api.models import ApiRequest
from balance import proposals
from balance.models import AdjustmentProposal
from common.clock import utc_now
from dashboard.chain import collected
from funding.models import FundingTransaction
from funding.services import auto_funding
from networks.ach import freezing
from tenants import actors
from tenants.models import Role
from tenants.services import keys, switches
from tenants.switches import SwitchKind
from tests.builders import (
    NOW,
    browser_of,
    make_auto_funding,
    make_endpoint,
    make_member,
    make_source,
    make_staff,
)
from tests.networks.ach.builders import (
    FREEZE,
    RAIL,
    instruction,
    make_originator,
    make_rail,
    take,
)
from tests.transfers.directions import DIRECTIONS
from transfers import holds
from webhooks.models import WebhookDelivery, WebhookEvent

pytestmark = pytest.mark.django_db
QUERIES_MAX = 32
PATHS = {"in": "/admin/desk/funding", "out": "/admin/desk/payments"}
ADMIN = {"in": "/admin/funding/fundingtransaction", "out": "/admin/payments/payment"}
SEE = {"in": "funding.view_fundingtransaction", "out": "payments.view_payment"}


@pytest.fixture(params=list(DIRECTIONS))
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def row(acme, money):
    make_endpoint(acme, url="https://hooks.acme.example/in")
    return money.make(acme)


@pytest.fixture
def desk():
    return browser_of(make_staff("sue@ballast.example"))


def text(browser, money, row):
    answer = browser.get(f"{PATHS[money.transfer.direction]}/{row.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_links_events_deliveries_the_tenant_and_what_was_posted(money, row, desk):
    money.run_due()
    page = text(desk, money, row)

    events = WebhookEvent.objects.filter(payment_id=row.pk)
    assert len(events) >= 3
    for event in events:
        assert f'href="/admin/desk/events/{event.pk}/"' in page
    for delivery in WebhookDelivery.objects.filter(event__in=events):
        assert f'href="/admin/desk/deliveries/{delivery.pk}/"' in page
    assert f'href="/admin/desk/tenants/{row.tenant_id}/"' in page
    assert page.count("btx_") == len(money.postings)


def test_leads_to_the_entry_its_file_and_its_batch_and_back(acme, desk):
    funding = DIRECTIONS["in"].make(acme)
    make_rail()
    make_originator()
    (entry,) = take(instruction(id=funding.pk, tenant_id=acme.pk))
    (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
    entry.refresh_from_db()

    page = text(desk, DIRECTIONS["in"], funding)

    assert f'href="/admin/desk/entries/{funding.pk}/">Entry {entry.trace_number}' in page
    assert f'href="/admin/desk/files/{file_id}/"' in page
    assert f'href="/admin/desk/files/{file_id}/batches/1/"' in page
    back = desk.get(f"/admin/desk/entries/{funding.pk}/").content.decode()
    assert f'href="/admin/desk/funding/{funding.pk}/"' in back


def test_offers_the_steps_that_are_possible_now(money, row, desk):
    base = f"{ADMIN[money.transfer.direction]}/{row.pk}"
    assert f"{base}/hold/" in text(desk, money, row)

    staff = actors.staff(make_staff("lee@ballast.example").pk)
    holds.hold(money.transfer, row.pk, reason="Odd & large", actor=staff, now=NOW)

    page = text(desk, money, row)
    assert f"{base}/release/" in page
    assert f"{base}/stop/" in page
    assert f"{base}/hold/" not in page
    assert "Odd &amp; large" in page


def test_offers_and_links_nothing_that_its_reader_may_not(money, row):
    reader = browser_of(make_staff("kim@ballast.example", [SEE[money.transfer.direction]]))

    page = text(reader, money, row)

    base = f"{ADMIN[money.transfer.direction]}/{row.pk}"
    assert f"{base}/hold/" not in page
    assert "/admin/desk/events/" not in page
    assert "/admin/desk/tenants/" not in page
    assert "Audit log</h2>" not in page


def test_shows_the_request_that_made_it(acme, row, money):
    key = keys.issue(tenant=acme, name="Server", actor=actors.SYSTEM, now=NOW).key
    ApiRequest.objects.create(
        tenant=acme,
        key=key,
        request_id="abc123",
        method="POST",
        path="/api/v1/made",
        status=201,
        duration_us=1,
        created_at=NOW,
        made_id=row.pk,
    )
    reader = make_staff("kim@ballast.example", [SEE[money.transfer.direction]])
    shown = "POST /api/v1/made"

    assert shown not in text(browser_of(reader), money, row)
    reader = make_staff(
        "lee@ballast.example", [SEE[money.transfer.direction], "api.view_apirequest"]
    )
    assert shown in text(browser_of(reader), money, row)


def test_shows_no_part_whose_own_page_its_reader_may_not_open(money, row):
    money.run_due()
    reader = make_staff("kim@ballast.example", [SEE[money.transfer.direction]])

    page = text(browser_of(reader), money, row)

    assert "hooks.acme.example" not in page
    assert "btx_" not in page
    assert "Webhook events" not in page


def test_leads_to_its_bank_account(money, row, desk):
    account = row.source if money.transfer.direction == "in" else row.recipient
    kind = f"{account._meta.app_label}/{account._meta.model_name}"

    assert f'href="/admin/{kind}/{account.pk}/change/"' in text(desk, money, row)

    reader = make_staff("kim@ballast.example", [SEE[money.transfer.direction]])
    assert f"/admin/{kind}/" not in text(browser_of(reader), money, row)


def test_leads_to_what_keeps_it(money, row, desk):
    assert "Kept by" not in text(desk, money, row)
    switch = switches.engage(
        kind=SwitchKind(money.transfer.stopped_by), reason="Storm", actor=actors.SYSTEM, now=NOW
    )
    money.run_due()

    page = text(desk, money, row)

    assert f'href="/admin/tenants/switch/{switch.pk}/change/">{switch}</a>' in page


def test_leads_to_the_tenant_that_keeps_it(money, row, desk):
    type(row).objects.filter(pk=row.pk).update(parked_for=row.tenant_id)

    assert "The tenant is suspended</a>" in text(desk, money, row)


def test_shows_adjustments_that_name_it(acme, rival, money, row, desk):
    for tenant, reason in ((acme, f"Fee of {row.pk}"), (acme, "Other"), (rival, f"Not {row.pk}")):
        proposals.propose(
            tenant_id=tenant.pk,
            type="credit",
            amount=1_250,
            reason=reason,
            actor=actors.staff(make_staff("lee@ballast.example").pk),
            now=utc_now(),
        )
    named = AdjustmentProposal.objects.get(reason=f"Fee of {row.pk}")

    page = text(desk, money, row)

    assert f'href="/admin/balance/adjustmentproposal/{named.pk}/change/"' in page
    assert page.count("/admin/balance/adjustmentproposal/adp_") == 1


def test_shows_its_approval(acme, desk):
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    make_member(acme, email="boss@acme.example", role=Role.OWNER)
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    funding = FundingTransaction.objects.get()
    confirmation = funding.confirmation

    page = text(desk, DIRECTIONS["in"], funding)

    assert f'href="/admin/funding/confirmation/{confirmation.pk}/change/"' in page
    assert "Waiting</p>" in page
    reader = make_staff("kim@ballast.example", [SEE["in"]])
    assert "/admin/funding/confirmation/" not in text(browser_of(reader), DIRECTIONS["in"], funding)


def test_says_how_many_there_are_of_what_it_cuts(acme, money, row, desk, monkeypatch):
    make_endpoint(acme, url="https://hooks.acme.example/other")
    money.run_due()
    events = WebhookEvent.objects.filter(payment_id=row.pk)
    sent = WebhookDelivery.objects.filter(event__in=events)
    assert "The first" not in text(desk, money, row)
    monkeypatch.setattr(collected, "EVENTS_SHOWN", 2)
    monkeypatch.setattr(collected, "DELIVERIES_SHOWN", 1)

    page = text(desk, money, row)

    assert f"The first 2 of {events.count()} events." in page
    assert f"The first 1 of {sent.count()} deliveries." in page
    for kind, rows in (("webhookevent", events), ("webhookdelivery", sent)):
        address = f"/admin/webhooks/{kind}/?q={row.pk}"
        assert f'href="{address}"' in page
        found = desk.get(address).context["cl"].queryset
        assert set(found) == set(rows)


def test_has_as_many_queries_however_much_hangs_on_it(
    acme, money, row, desk, django_assert_max_num_queries
):
    for number in range(5):
        make_endpoint(acme, url=f"https://hooks.acme.example/{number}")
    money.run_due()

    with django_assert_max_num_queries(QUERIES_MAX):
        text(desk, money, row)


@pytest.mark.parametrize("id", ["pay_1", "ftx_1", "x"])
def test_of_what_there_is_not_is_not_found(money, desk, id):
    assert desk.get(f"{PATHS[money.transfer.direction]}/{id}/").status_code == 404
