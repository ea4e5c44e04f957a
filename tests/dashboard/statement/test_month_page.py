"""A month's statement by movements and by lines: what its pages hold, and that they add up."""

from __future__ import annotations

import html
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from balance import selectors as ledger_reads
from balance import services as ledger
from balance import statements
from common import ids
from common.clock import utc_now
from common.days import day_of
from dashboard.statement import month_page, movement_lines
from tenants.actors import SYSTEM
from tests.balance.builders import fund, movement
from tests.payments.builders import account, pay, run_due
from tests.payments.builders import fund as give

OCTOBER, NOVEMBER = "/dashboard/statements/2026-10", "/dashboard/statements/2026-11"
LAST_OF_OCTOBER = datetime(2026, 11, 1, 3, 30, tzinfo=UTC)  # 11:30 PM on October 31 in New York
BYTES_MAX = 60 * 1024


def lines(tenant, month: int):
    """(what, status, change, hint) of every movement of the month, in order, page by page."""
    found = statements.statement(tenant_id=tenant.pk, first=date(2026, month, 1), now=utc_now())
    shown, after = [], ""
    while True:
        page = month_page.of_movements(tenant_id=tenant.pk, month=found.month, after=after)
        assert len(page.rows) <= 50
        shown += movement_lines.as_booked(tenant_id=tenant.pk, rows=page.rows)
        if not page.next:
            return found.month, [
                (line.what, line.badge.label, line.change, line.hint) for line in shown
            ]
        after = page.next


def addresses(browser, path):
    """The content of each page."""
    while path:
        content = browser.get(path).content.decode()
        yield content
        path = html.unescape(next(iter(re.findall(r'rel="next" href="([^"]+)"', content)), ""))


def notes_on_paper(content):
    return re.findall(r'<p class="[^"]*paper-only">([^<]+)</p>', content)


@pytest.fixture
def lived(acme):
    """Three payments set aside late in October: one is completed then, one in November, and one
    fails in November."""
    fund(acme, 100_000, description="Funding completed", now=LAST_OF_OCTOBER - timedelta(days=9))
    orders = [
        movement(acme, amount, source_id=ids.new("pay"), now=LAST_OF_OCTOBER)
        for amount in (100, 200, 300)
    ]
    for order in orders:
        ledger.lock(**order | {"description": "Payment"})
    ledger.settle(**orders[0])
    later = {"now": LAST_OF_OCTOBER + timedelta(days=2)}
    ledger.settle(**orders[1] | later)
    ledger.unlock(**orders[2] | later | {"description": "Payment failed"})
    ledger.credit(**orders[0] | later | {"description": "Payment returned R03"})
    ledger.adjust(
        tenant_id=acme.pk,
        type="debit",
        amount=7,
        reason="Wire fee",
        actor=SYSTEM,
        now=later["now"],
    )
    return acme


class TestMovements:
    def test_have_what_the_ledger_had_at_the_end_of_the_month(self, lived):
        assert lines(lived, 10)[1] == [
            ("Funding", "Completed", 100_000, ""),
            ("Payment", "Completed", -100, ""),
            ("Payment", "Set aside", -200, "set aside"),
            ("Payment", "Set aside", -300, "set aside"),
        ]
        assert lines(lived, 11)[1] == [
            ("Payment failed", "Released", 300, "released"),
            ("Payment returned R03", "Returned", 100, ""),
            ("Wire fee", "Posted", -7, ""),
        ]

    @pytest.mark.parametrize("month", [10, 11])
    def test_lead_from_the_opening_to_the_closing_balance(self, lived, month):
        bounds, shown = lines(lived, month)

        assert shown
        change = bounds.closing.available - bounds.opening.available
        assert sum(line[2] for line in shown) == change

    def test_lead_there_over_many_pages(self, acme):
        give(acme, 10_000_000)
        for number in range(120):
            order = movement(acme, number + 1)
            ledger.lock(**order)
            if number % 2:
                (ledger.unlock if number % 3 else ledger.settle)(**order)

        bounds, shown = lines(acme, 11)

        assert len(shown) == 121
        assert sum(line[2] for line in shown) == bounds.closing.available

    def test_cost_three_queries(self, lived, django_assert_num_queries):
        bounds = lines(lived, 10)[0]

        with django_assert_num_queries(3):
            page = month_page.of_movements(tenant_id=lived.pk, month=bounds, after="")
            movement_lines.as_booked(tenant_id=lived.pk, rows=page.rows)


class TestThePage:
    def test_shows_lines_on_demand_and_says_what_the_file_has(self, lived, dana_browser):
        content = dana_browser.get(OCTOBER).content.decode()
        assert "The PDF and the CSV file have every ledger line." in content
        assert content.count(">Set aside</span>") == 4  # a wide one and a narrow one
        (ledger_lines,) = re.findall(r'href="([^"]+)">Show ledger lines', content)

        content = dana_browser.get(ledger_lines).content.decode()
        assert content.count(">Lock</span>") == 3
        assert content.count(">Settlement</span>") == 1
        assert re.findall(r'href="([^"]+)">Hide ledger lines', content) == [OCTOBER]

    @pytest.mark.parametrize("view", ["", "?view=ledger"])
    def test_has_at_most_fifty_rows_and_sixty_kilobytes(self, acme, dana_browser, view):
        now = datetime(2026, 11, 5, 15, tzinfo=UTC)
        give(acme, 50_000_000, now=now)
        name = "Northwind Traders and Sons Holding Company of the Middle West"
        for number in range(59):
            pay(acme, 10_000 + number, to=account(f"77{number:04}", holder_name=name), now=now)
        run_due(now=now)

        pages = list(addresses(dana_browser, NOVEMBER + view))

        assert [content.count("<time") - 1 for content in pages] == (
            [50, 50, 19] if view else [50, 10]
        )  # each row has one, and the page that it was created
        assert max(len(content.encode()) for content in pages) <= BYTES_MAX

    @pytest.mark.parametrize("view", ["", "?view=ledger"])
    def test_shows_every_row_once(self, acme, dana_browser, view):
        for number in range(1, 121):
            fund(acme, number * 100)

        seen = []
        for content in addresses(dana_browser, NOVEMBER + view):
            seen += re.findall(r'amount--in">\+\$(\d+)\.00</p>', content)

        assert seen == [str(number) for number in range(1, 121)]

    def test_begins_behind_a_line_of_its_own_month_only(self, lived, rival, dana_browser):
        in_november = ledger_reads.transactions(lived.pk).get(type="debit")
        theirs = fund(rival, 100, now=LAST_OF_OCTOBER)

        for after in (in_november["id"], theirs.id, "nonsense", "btx_\0"):
            for view in ("", "ledger"):
                query = {"after": after, "view": view}
                assert dana_browser.get(OCTOBER, query).status_code == 404

    @pytest.mark.parametrize("view", ["", "ledger"])
    def test_that_is_not_all_says_so_on_paper(self, acme, dana_browser, view):
        for minute in range(51):
            fund(acme, 100, now=LAST_OF_OCTOBER - timedelta(minutes=minute))

        pages = [notes_on_paper(page) for page in addresses(dana_browser, f"{OCTOBER}?view={view}")]

        assert pages == [
            ["Rows 1–50 of this month. The PDF has every ledger line."],
            ["Not the first rows of this month. The PDF has every ledger line."],
        ]

    def test_says_that_a_month_is_not_over(self, acme, dana_browser):
        now = utc_now()
        fund(acme, 100, now=LAST_OF_OCTOBER)
        fund(acme, 100, now=now)
        running = f"/dashboard/statements/{day_of(now):%Y-%m}"

        assert "This month is not over" in dana_browser.get(running).content.decode()
        assert "This month is not over" not in dana_browser.get(OCTOBER).content.decode()

    def test_that_is_all_says_nothing_of_it_on_paper(self, lived, dana_browser):
        assert notes_on_paper(dana_browser.get(OCTOBER).content.decode()) == []

    def test_shows_nothing_of_another_tenant(self, lived, rival, dana_browser):
        fund(rival, 77_700, now=LAST_OF_OCTOBER)

        for query in ({}, {"view": "ledger"}):
            assert "$777.00" not in dana_browser.get(OCTOBER, query).content.decode()
