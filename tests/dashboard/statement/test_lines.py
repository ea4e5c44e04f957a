from __future__ import annotations

import re
from datetime import timedelta

import pytest

from balance import selectors as ledger
from balance import services
from common import days
from common.clock import utc_now
from dashboard.statement import lines as statement_lines
from payments.services import orders, recipients
from tenants.actors import SYSTEM
from tests.balance.builders import fund, movement
from tests.builders import NOW, make_source
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import account
from tests.payments.builders import run_due as run_payments


def lines(tenant):
    """(other side, what the ledger says, hint), the oldest first."""
    rows = list(ledger.transactions(tenant.pk).order_by("sequence"))
    found = statement_lines.lines(tenant_id=tenant.pk, rows=rows)
    return [(line.who, line.description, line.hint) for line in found]


@pytest.fixture
def paid(acme):
    """$250.00 came in, $100.00 goes out again."""
    top_up(acme, source=make_source(acme))
    run_funding()
    fund(acme, 10_000)
    supplier = recipients.save(
        tenant_id=acme.pk, details=account(), nickname="Beans", actor=SYSTEM, now=NOW
    )
    order = orders.Order(amount=10_000, recipient=supplier.pk)
    return orders.place(tenant_id=acme.pk, mode=acme.mode, order=order, actor=SYSTEM, now=NOW)


def test_name_the_bank_account_and_the_recipient(acme, paid):
    run_payments()

    assert lines(acme)[-2:] == [
        ("Beans", "Payment", "set aside"),
        ("Beans", "Payment completed", "from locked"),
    ]
    assert ("JPMorgan Chase\N{NO-BREAK SPACE}··6789", "Funding completed", "") in lines(acme)


def test_say_what_a_top_up_and_a_payment_are_for(acme, rival):
    top_up(acme, description="November float")
    run_funding()
    supplier = recipients.save(tenant_id=acme.pk, details=account(), actor=SYSTEM, now=NOW)
    order = orders.Order(amount=10_000, recipient=supplier.pk, description="Invoice 7")
    orders.place(tenant_id=acme.pk, mode=acme.mode, order=order, actor=SYSTEM, now=NOW)
    rows = list(ledger.transactions(acme.pk).order_by("sequence"))

    shown = statement_lines.lines(tenant_id=acme.pk, rows=rows)
    hidden = statement_lines.lines(tenant_id=rival.pk, rows=rows)

    assert [line.what_for for line in shown] == ["November float", "Invoice 7"]
    assert {line.what_for for line in hidden} == {""}


def test_name_nobody_where_nobody_is_on_the_other_side(acme):
    fund(acme, 10_000, description="A gift")

    assert lines(acme) == [("", "A gift", "")]


def test_say_what_became_of_money_that_was_set_aside(acme):
    fund(acme, 10_000)
    lock = movement(acme, 10_000)
    services.lock(**lock)
    services.unlock(**lock)

    assert [hint for _, _, hint in lines(acme)] == ["", "set aside", "released"]


def test_never_name_whom_another_tenant_pays(acme, rival, paid):
    rows = list(ledger.transactions(acme.pk))

    found = statement_lines.lines(tenant_id=rival.pk, rows=rows)

    assert {line.who for line in found} == {""}


def test_cost_one_query(acme, paid, django_assert_num_queries):
    rows = list(ledger.transactions(acme.pk))

    with django_assert_num_queries(1):
        statement_lines.lines(tenant_id=acme.pk, rows=rows)


def test_are_found_on_the_page_by_the_name(acme, paid, dana_browser):
    content = dana_browser.get("/dashboard/transactions").content.decode()

    assert re.search(rf'<a href="/dashboard/payments/{paid.pk}">\s*Beans\s*</a>', content)


def test_show_on_the_page_and_in_print_what_a_top_up_is_for(acme, dana_browser):
    now = utc_now()
    top_up(acme, description="November <float>", now=now - timedelta(days=7))
    run_funding(now=now)
    month = days.day_of(now)

    for path in ("", "transactions", f"statements/{month:%Y-%m}"):
        content = dana_browser.get(f"/dashboard/{path}").content.decode()

        assert "<span>November &lt;float&gt;</span>" in content, path
