"""The search of the desk: over all tenants, but only what the person's powers show."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.clock import utc_now
from desk.find import results
from funding.models import FundingTransaction
from payments.models import Payment
from tenants import session_life
from tenants.models import AuditEvent
from tests.balance.builders import fund
from tests.builders import browser_of, make_funding, make_member, make_source, make_staff
from tests.dashboard.find.test_find import ids_of
from tests.payments.builders import pay

pytestmark = pytest.mark.django_db

PATH = "/admin/desk/find/"
# What of each kind's row its page is found by, and the power to see it.
POWERS = {
    "pay": "payments.view_payment",
    "ftx": "funding.view_fundingtransaction",
    "btx": "balance.view_balancetransaction",
    "rcp": "payments.view_recipient",
    "fs": "funding.view_fundingsource",
    "dau": "funding.view_debitauthorization",
    "evt": "webhooks.view_webhookevent",
    "dlv": "webhooks.view_webhookdelivery",
    "wh": "webhooks.view_webhookendpoint",
    "key": "tenants.view_apikey",
    "cnf": "funding.view_confirmation",
}


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


def desk_of(*powers):
    return browser_of(make_staff(f"sam-{len(powers)}@staff.example", powers))


@pytest.fixture
def everything():
    return desk_of("tenants.view_tenant", "tenants.view_user", *POWERS.values())


def found(browser, text):
    page = browser.get(PATH, {"q": text})
    assert page.status_code == 200
    return re.findall(r'<a class="find__hit" href="([^"]*)"', page.content.decode())


class TestIds:
    def test_of_every_tenant_are_found_and_lead_somewhere(self, acme, rival, everything):
        for tenant in (acme, rival):
            ids = ids_of(tenant)
            for prefix in POWERS:
                for text in (ids[prefix], ids[prefix][: len(prefix) + 11]):
                    (href,) = found(everything, text)
                    assert ids[prefix] in href
                    assert everything.get(href).status_code == 200
            assert found(everything, tenant.pk) == [f"/admin/desk/tenants/{tenant.pk}/"]

    def test_need_the_power_of_their_list(self, acme):
        ids = ids_of(acme)
        for prefix, power in POWERS.items():
            browser = browser_of(make_staff(f"{prefix}@staff.example", [power]))
            hits = {other for other in POWERS if found(browser, ids[other])}
            assert hits == {prefix}
            assert found(browser, acme.pk) == []

    def test_write_no_line(self, acme, everything):
        found(everything, acme.pk)

        assert not AuditEvent.objects.filter(action="desk.searched").exists()


class TestAmounts:
    @pytest.fixture
    def rows(self, acme, rival):
        for tenant in (acme, rival):
            fund(tenant, 1_000_000)
        made = [pay(acme, 120_000), pay(rival, 120_000)]
        return [*made, make_funding(rival, make_source(rival), amount=120_000)]

    def test_of_all_tenants_are_found_newest_first(self, rows, everything):
        first, second, funding = (row.pk for row in rows)

        assert found(everything, "$1,200") == [
            f"/admin/desk/payments/{second}/",
            f"/admin/desk/payments/{first}/",
            f"/admin/desk/funding/{funding}/",
        ]

    def test_say_whose_they_are(self, rows, everything):
        page = everything.get(PATH, {"q": "1200"}).content.decode()

        assert page.count("Rival ·") == 2
        assert page.count("Acme ·") == 1

    def test_need_the_power_of_their_list(self, rows):
        browser = desk_of("funding.view_fundingtransaction")

        assert found(browser, "1200") == [f"/admin/desk/funding/{rows[2].pk}/"]
        assert found(desk_of(), "1200") == []

    def test_that_too_many_have_lead_to_the_list(self, rows, everything, monkeypatch):
        monkeypatch.setattr(results, "SAME_AMOUNT_MAX", 1)

        assert found(everything, "1200")[0] == "/admin/payments/payment/"

    def test_that_are_old_are_not_found(self, rows, everything, monkeypatch):
        monkeypatch.setattr(results, "DAYS", -1)

        assert found(everything, "1200") == []
        assert Payment.objects.filter(amount=120_000).count() == 2


class TestTheRest:
    def test_a_tenant_is_found_by_a_part_of_its_name(self, acme, rival, everything):
        assert found(everything, "IVA") == [f"/admin/desk/tenants/{rival.pk}/"]
        assert found(desk_of(), "iva") == []

    def test_a_person_is_found_by_the_beginning_of_an_address(self, acme, everything):
        dana = make_member(acme, email="dana@acme.example")

        assert found(everything, "Dana@ac") == [f"/admin/tenants/user/{dana.pk}/change/"]
        assert found(everything, "ana@") == []
        assert found(desk_of("tenants.view_tenant"), "dana@ac") == []

    def test_a_trace_number_is_found(self, acme, everything):
        funding = make_funding(acme, make_source(acme))
        FundingTransaction.objects.filter(pk=funding.pk).update(trace_number="091000011234567")

        assert found(everything, "091000011234567") == [f"/admin/desk/funding/{funding.pk}/"]

    def test_pages_are_those_of_the_menu(self, everything):
        assert found(everything, "audit") == []  # without its power
        assert found(everything, "queues") == ["/admin/desk/queues/"]
        assert found(everything, "")[0] == "/admin/"

    def test_needs_no_power_and_finds_nothing_without(self, acme):
        assert found(desk_of(), "acme") == []

    def test_is_not_for_tenants(self, acme):
        browser = browser_of(make_member(acme, email="dana@acme.example"))

        assert browser.get(PATH, {"q": "acme"}).status_code in (302, 403)

    def test_is_the_only_one_that_a_key_opens(self, desk):
        page = desk.get("/admin/tenants/tenant/").content

        assert page.count(b"data-find aria-keyshortcuts=") == 1
        assert b"searchCommand()" not in page  # unfold's, which would open by the same keys

    def test_answers_the_dialog_with_choices(self, acme, everything):
        part = everything.get(PATH, {"q": "acme"}, headers={"HX-Request": "true"})

        assert part.content.count(b'role="option"') == 1
        assert b"<html" not in part.content


class TestTheAuditLog:
    @pytest.mark.parametrize(
        ("typed", "kind"),
        [("1200", "an amount"), ("acme", "a name"), ("dana@acme", "an e-mail address")],
    )
    def test_says_what_kind_was_looked_for_and_never_what(self, everything, typed, kind):
        started = utc_now() - timedelta(minutes=1)
        for _ in range(2):
            found(everything, typed)

        line = AuditEvent.objects.get(action="desk.searched", created_at__gte=started)
        assert (line.details, line.actor_type) == ({"kind": kind}, "staff")
        assert line.tenant_id is None
        assert typed not in f"{line.details}{line.subject_id}{line.staff_note}"


def test_costs_the_same_for_many_rows(acme, rival, everything, monkeypatch):
    monkeypatch.setattr(session_life, "_NOTED_EVERY", timedelta(days=1))
    fund(acme, 10_000_000)
    costs = []
    for count in (1, 4):
        for number in range(count):
            source = make_source(acme, account_number=f"1000{count}{number}")
            pay(acme, 1_200)
            make_funding(acme, source, amount=1_200)
        everything.get(PATH, {"q": "12.00"})
        with CaptureQueriesContext(connection) as queries:
            found(everything, "12.00")
        costs.append(len(queries))

    assert costs[0] == costs[1] <= 16
