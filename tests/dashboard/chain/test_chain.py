"""What belongs to a funding or a payment is linked from its page, for who may follow the link, and
nothing of anybody else's."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.urls import resolve

from api import request_log
from common.clock import utc_now
from dashboard.chain import collected
from payments.services import orders, recipients
from tenants import actors
from tenants.models import AuditEvent, Role
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import (
    NOW,
    make_endpoint,
    make_funding,
    make_member,
    make_source,
    publish_notice,
)
from tests.payments.builders import account, fund, pay
from tests.transfers.directions import DIRECTIONS
from transfers import holds
from webhooks.models import WebhookDelivery, WebhookEvent

pytestmark = pytest.mark.django_db
PATHS = {"in": "/dashboard/funding", "out": "/dashboard/payments"}
URL = "https://hooks.acme.example/in"


@pytest.fixture(params=list(DIRECTIONS))
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def arrived(acme, money):
    """A transfer that was looked at, completed, and told to an endpoint of acme."""
    return complete(acme, money)


def complete(tenant, money):
    make_endpoint(tenant, url=URL)
    row = money.make(tenant)
    staff = actors.staff(make_member(tenant, email=f"sue@{tenant.name}.example").pk)
    holds.hold(money.transfer, row.pk, reason="Odd", actor=staff, now=NOW)
    holds.release(money.transfer, row.pk, reason="Fine", actor=staff, now=NOW)
    money.run_due()
    return row


def path(money, row):
    return f"{PATHS[money.transfer.direction]}/{row.pk}"


def links(browser, where):
    """The addresses that the page's own part leads to, and not its frame."""
    text = browser.get(where).content.decode()
    part = text[text.index('<main class="page"') :]
    return {html.unescape(link) for link in re.findall(r'href="([^"]+)"', part)}


def title_of(content):
    return content.partition("<title>")[2].partition("</title>")[0]


class TestLinks:
    def test_lead_to_every_ledger_line(self, money, arrived, dana_browser):
        found = links(dana_browser, path(money, arrived))
        all_of_it = f"/dashboard/transactions?view=ledger&search={arrived.pk}"
        lines = dana_browser.get(all_of_it).context["lines"]

        assert len(lines) == len(money.postings)
        assert {f"/dashboard/transactions?view=ledger&search={line.id}" for line in lines} <= found
        assert all_of_it in found

    def test_lead_to_every_event_and_delivery(self, money, arrived, dana_browser):
        found = links(dana_browser, path(money, arrived))
        events = WebhookEvent.objects.filter(payment_id=arrived.pk)
        deliveries = WebhookDelivery.objects.filter(event__in=events)

        assert len(events) == len(deliveries) >= 3
        assert {f"/dashboard/events/{event.pk}" for event in events} <= found
        assert {f"/dashboard/deliveries/{row.pk}" for row in deliveries} <= found

    def test_lead_to_nothing_of_another_tenant(self, money, arrived, rival, dana_browser, ravi):
        theirs = complete(rival, money)
        found = links(dana_browser, path(money, arrived))

        foreign = {
            *WebhookEvent.objects.filter(tenant=rival).values_list("pk", flat=True),
            *WebhookDelivery.objects.filter(tenant=rival).values_list("pk", flat=True),
            *AuditEvent.objects.filter(tenant=rival).values_list("pk", flat=True),
            theirs.pk,
        }
        assert {link for link in found for id in foreign if id in link} == set()

    def test_lead_where_every_role_may_go(self, acme, money, arrived, sign_in):
        for role in Role:
            browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))
            for link in links(browser, path(money, arrived)):
                if link.startswith("/dashboard/") and resolve(link.split("?")[0].split("#")[0]):
                    assert browser.get(link.split("#")[0]).status_code == 200, (role, link)

    def test_lead_owners_to_the_audit_log_about_it(self, money, arrived, dana_browser):
        where = f"/dashboard/audit-log?subject={arrived.pk}"
        content = dana_browser.get(path(money, arrived)).content.decode()

        assert f'href="{where}"' in content
        assert "for review" in content
        lines = dana_browser.get(where).context["lines"]
        assert {line.subject.id for line in lines} == {arrived.pk}
        assert len(lines) == 2

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_tell_nobody_else_of_the_audit_log(self, acme, money, arrived, sign_in, role):
        browser = sign_in(make_member(acme, email="lee@acme.example", role=role))
        content = browser.get(path(money, arrived)).content.decode()

        assert "audit-log" not in content
        assert "for review" not in content
        assert browser.get(path(money, arrived)).context["chain"].audit == []


class TestTheRequest:
    @pytest.fixture(autouse=True)
    def switched_on(self, settings):
        settings.REQUEST_LOG_SECONDS = 86_400
        yield
        request_log.flush()

    def test_that_made_a_funding_is_linked(self, acme, acme_api, dana_browser):
        source = make_source(acme)
        made = acme_api.post_json(
            "/api/v1/balance/topup", {"amount": 25_000, "fundingSourceId": source.pk}
        ).json()["data"]["id"]
        request_log.flush()

        found = request_log.that_made(tenant_id=acme.pk, made_id=made)
        assert found is not None
        assert f"/dashboard/requests/{found.pk}" in links(
            dana_browser, f"/dashboard/funding/{made}"
        )

    def test_is_not_there_for_what_a_person_made(self, money, arrived, dana_browser):
        assert b"API request" not in dana_browser.get(path(money, arrived)).content


class TestBothEnds:
    def test_of_a_funding_are_its_bank_account_and_the_balance(self, acme, dana_browser):
        source = make_source(acme)
        row = make_funding(acme, source)
        found = links(dana_browser, f"/dashboard/funding/{row.pk}")

        assert {f"/dashboard/bank-accounts#{source.pk}", "/dashboard/transactions"} <= found
        assert f'id="{source.pk}"' in dana_browser.get("/dashboard/bank-accounts").content.decode()

    def test_of_a_payment_are_the_balance_and_a_recipient_on_the_list(self, acme, dana_browser):
        fund(acme, 100_000)
        kept = recipients.save(
            tenant_id=acme.pk, details=account("7700"), actor=actors.SYSTEM, now=NOW
        )
        listed = orders.place(
            tenant_id=acme.pk,
            mode=acme.mode,
            order=orders.Order(amount=10_000, recipient=kept.pk),
            actor=actors.SYSTEM,
            now=NOW,
        )
        once = pay(acme, to="7711")
        where = f"/dashboard/recipients/{kept.pk}"

        assert {where, "/dashboard/transactions"} <= links(
            dana_browser, f"/dashboard/payments/{listed.pk}"
        )
        assert not any(
            "/recipients/" in link for link in links(dana_browser, f"/dashboard/payments/{once.pk}")
        )


class TestDeliveries:
    def test_that_operators_keep_say_so(self, acme, money, dana_browser):
        make_endpoint(acme, url=URL)
        row = money.make(acme)
        switches.engage(
            kind=SwitchKind.WEBHOOKS,
            tenant_id=acme.pk,
            reason="Look first",
            actor=actors.SYSTEM,
            now=NOW,
        )

        assert b"Sending stopped" in dana_browser.get(path(money, row)).content

    def test_beyond_the_bound_are_left_to_the_pages_of_their_events(
        self, acme, money, dana_browser
    ):
        for number in range(20):
            make_endpoint(acme, url=f"https://hooks{number}.acme.example/in")
        row = money.make(acme)
        money.run_due(rounds=8)

        chain = dana_browser.get(path(money, row)).context["chain"]
        shown = sum(len(event.deliveries) for event in chain.events)
        assert WebhookDelivery.objects.filter(payment_id=row.pk).count() > shown
        assert shown == collected.DELIVERIES_SHOWN
        assert chain.are_deliveries_cut


class TestTitles:
    def test_tell_amount_other_side_and_day(self, acme, dana_browser):
        now = utc_now()
        long_ago = now.replace(year=2020, month=11, day=12, hour=17)  # noon in New York
        row = make_funding(acme, make_source(acme), amount=120_000, created_at=long_ago)
        content = dana_browser.get(f"/dashboard/funding/{row.pk}").content.decode()

        title = title_of(content)
        assert title.startswith("$1,200.00 from JPMorgan Chase\xa0··6789 · Nov 12, 2020 · ")

    def test_of_this_year_leave_the_year_out(self, money, arrived, dana_browser):
        content = dana_browser.get(path(money, arrived)).content.decode()
        title = title_of(content)

        assert f"· {NOW:%b} {NOW.day}" in title

    def test_of_events_and_deliveries_name_the_money(self, money, arrived, dana_browser):
        name = "from JPMorgan Chase" if money.transfer.direction == "in" else "to Supplier LLC"
        event = WebhookEvent.objects.get(payment_id=arrived.pk, type="payment.completed")
        delivery = WebhookDelivery.objects.get(event=event)

        told = dana_browser.get(f"/dashboard/events/{event.pk}").context["title"]
        sent = dana_browser.get(f"/dashboard/deliveries/{delivery.pk}").context["title"]

        assert told.startswith(f"payment.completed · $100.00 {name}")
        assert sent.startswith(f"payment.completed to hooks.acme.example · $100.00 {name}")

    def test_of_one_about_no_money_tell_the_moment(self, acme, dana_browser):
        event_id = publish_notice(acme, now=NOW)

        title = dana_browser.get(f"/dashboard/events/{event_id}").context["title"]
        assert title.startswith("balance.low · Nov ")
        assert title.endswith(" EST")


def test_forms_of_the_page_stay(acme, money, dana_browser):
    row = money.make(acme)

    content = dana_browser.get(path(money, row)).content.decode()

    assert f'action="{path(money, row)}/cancel"' in content
    assert (
        content.count("<form")
        == dana_browser.get("/dashboard/").content.decode().count("<form") + 1
    )


def test_the_part_that_refreshes_itself_holds_the_chain(acme, money, dana_browser):
    row = money.make(acme)
    part = dana_browser.get(
        path(money, row), headers={"HX-Request": "true", "X-Tenant": acme.pk}
    ).content.decode()

    event = WebhookEvent.objects.get(payment_id=row.pk)
    assert "<h1" not in part
    assert f"/dashboard/events/{event.pk}" in part


def test_a_far_older_event_costs_no_more(acme, money, dana_browser, django_assert_max_num_queries):
    """Bounded, whatever hangs on it: the session and the person, the tenant, and the chain."""
    for number in range(3):
        make_endpoint(acme, url=f"https://hooks{number}.acme.example/in")
    row = money.make(acme)
    money.run_due(rounds=8, now=NOW + timedelta(minutes=1))

    dana_browser.get(path(money, row))
    with django_assert_max_num_queries(19):
        dana_browser.get(path(money, row))
