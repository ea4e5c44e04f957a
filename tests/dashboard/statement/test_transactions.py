from __future__ import annotations

import csv
import html
import re
from datetime import timedelta

import pytest

from balance import selectors as ledger_reads
from balance import services as ledger
from common import days, ids
from common.clock import utc_now
from dashboard.statement.lines import csv_rows
from tests.balance.builders import fund, movement
from tests.builders import NOW, make_source
from tests.funding.builders import run_due, top_up

LEDGER_LINES = "/dashboard/transactions?view=ledger"


def amounts(content: str) -> list[str]:
    return re.findall(r"[+−]\$[0-9,.]+", content)


class TestLedgerLines:
    def test_an_empty_list_says_what_will_be_here(self, dana_browser):
        assert b"No transactions yet" in dana_browser.get(LEDGER_LINES).content

    def test_shows_each_kind_with_its_change_and_the_balance_after(self, acme, dana_browser):
        fund(acme, 30_000, description="Top-up")
        lock = movement(acme, 10_000, description="Payment")
        ledger.lock(**lock)
        ledger.settle(**lock)

        content = dana_browser.get(LEDGER_LINES).content.decode()

        assert amounts(content) == ["−$100.00", "−$100.00", "+$300.00"]
        assert content.count("$200.00</td>") == content.count("$200.00 after") == 2
        assert "Settlement" in content

    def test_pages_show_every_row_once(self, acme, dana_browser):
        for number in range(1, 61):
            fund(acme, number * 100)

        seen, addresses = [], [LEDGER_LINES]
        while addresses:
            content = dana_browser.get(html.unescape(addresses.pop())).content.decode()
            seen += amounts(content)
            addresses = re.findall(r'rel="next" href="([^"]+)"', content)

        assert seen == [f"+${number}.00" for number in range(60, 0, -1)]

    def test_a_position_of_another_tenant_is_not_found(self, rival, dana_browser):
        posting = fund(rival, 100)

        response = dana_browser.get(f"{LEDGER_LINES}&before={posting.id}")

        assert response.status_code == 404

    def test_a_page_deep_down_costs_as_much_as_the_first(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        postings = [fund(acme, 100) for _ in range(40)]

        with django_assert_max_num_queries(6):
            dana_browser.get(LEDGER_LINES)
        with django_assert_max_num_queries(7):
            dana_browser.get(f"{LEDGER_LINES}&before={postings[30].id}")


def line(posting):
    return str(posting.id)


class TestFilters:
    @pytest.fixture
    def lines(self, acme):
        """$300.00 came on November 17, $100.00 were set aside on the 19th, late in the evening."""
        funding = ids.new("ftx")
        credit = fund(acme, 30_000, source_id=funding, now=NOW - timedelta(days=3))
        evening = NOW.replace(hour=4)  # 11 p.m. on the 19th in New York
        lock = ledger.lock(**movement(acme, 10_000, now=evening))
        return {"funding": funding, "credit": line(credit), "lock": line(lock)}

    def found(self, browser, **query):
        response = browser.get("/dashboard/transactions", query | {"view": "ledger"})
        assert response.status_code == 200
        return amounts(response.content.decode())

    def test_by_type(self, lines, dana_browser):
        assert self.found(dana_browser, type="lock") == ["−$100.00"]

    def test_by_direction(self, lines, dana_browser):
        assert self.found(dana_browser, type="in") == ["+$300.00"]
        assert self.found(dana_browser, type="out") == ["−$100.00"]

    def test_by_eastern_days_with_both_ends(self, lines, dana_browser):
        assert self.found(dana_browser, since="2026-11-19") == ["−$100.00"]
        assert self.found(dana_browser, until="2026-11-19") == ["−$100.00", "+$300.00"]
        assert self.found(dana_browser, until="2026-11-18") == ["+$300.00"]
        assert self.found(dana_browser, since="2026-11-18", until="2026-11-18") == []

    @pytest.mark.parametrize("name", ["funding", "credit"])
    def test_by_the_id_of_a_line_or_of_its_cause(self, lines, dana_browser, name):
        assert self.found(dana_browser, search=f" {lines[name].upper()} ") == ["+$300.00"]

    def test_find_nothing_of_another_tenant(self, lines, rival, dana_browser):
        foreign = fund(rival, 77_700)

        assert self.found(dana_browser, search=line(foreign)) == []

    def test_of_which_none_fits_say_so(self, lines, dana_browser):
        content = dana_browser.get(f"{LEDGER_LINES}&type=debit").content.decode()

        assert "Nothing matches" in content
        assert 'value="debit" selected' in content

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("search=hello", "search"),
            ("type=loan", "type"),
            ("since=yesterday", "since"),
            ("since=2026-11-19&until=2026-11-18", "until"),
        ],
    )
    def test_that_make_no_sense_are_explained(self, lines, dana_browser, query, field):
        response = dana_browser.get(f"{LEDGER_LINES}&{query}")

        assert response.status_code == 422
        assert f"id_{field}_error" in response.content.decode()
        assert amounts(response.content.decode()) == []

    def test_are_kept_from_page_to_page(self, acme, dana_browser):
        for _ in range(26):
            posting = movement(acme, 100)
            ledger.credit(**posting)
            ledger.lock(**movement(acme, 50))

        content = dana_browser.get(f"{LEDGER_LINES}&type=lock").content.decode()
        older = html.unescape(re.findall(r'rel="next" href="([^"]+)"', content)[0])

        assert older.startswith("/dashboard/transactions?type=lock&view=ledger&before=")
        rest = dana_browser.get(older).content.decode()
        assert amounts(rest) == ["−$0.50"]
        assert 'href="/dashboard/transactions?type=lock&amp;view=ledger">Newest' in rest

    def test_cost_at_most_two_queries_more(
        self, lines, dana_browser, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(8):
            dana_browser.get(f"{LEDGER_LINES}&since=2026-11-01&until=2026-11-30")

    def test_lead_from_a_line_to_its_funding(self, lines, dana_browser):
        content = dana_browser.get(LEDGER_LINES).content.decode()

        assert f'href="/dashboard/funding/{lines["funding"]}"' in content


class TestDownload:
    def test_holds_the_lines_of_the_filters(self, acme, dana_browser):
        fund(acme, 30_000, description="=1+1")
        ledger.lock(**movement(acme, 10_000))

        response = dana_browser.get("/dashboard/transactions.csv?type=credit")

        text = b"".join(response.streaming_content).decode()
        rows = list(csv.DictReader(text.splitlines()))
        assert [(row["type"], row["amount"]) for row in rows] == [("credit", "30000")]
        assert rows[0]["description"] == "'=1+1"
        assert "balance-transactions.csv" in response["Content-Disposition"]

    def test_says_what_each_line_is_for(self, acme, dana_browser):
        fund(acme, 30_000)
        top_up(acme, description="=November float")
        run_due()

        response = dana_browser.get("/dashboard/transactions.csv")

        rows = csv.DictReader(b"".join(response.streaming_content).decode().splitlines())
        assert [(row["description"], row["whatFor"]) for row in rows] == [
            ("Funding completed", "'=November float"),
            ("Test", ""),
        ]

    def test_asks_once_for_all_the_lines_what_they_are_for(self, acme, django_assert_num_queries):
        source = make_source(acme)
        for number in range(3):
            top_up(acme, source=source, description=f"Week {number}")
        run_due()
        rows = list(ledger_reads.transactions(acme.pk))

        with django_assert_num_queries(1):
            lines = list(csv_rows(tenant_id=acme.pk, rows=rows))

        assert sorted(str(line[-1]) for line in lines) == ["Week 0", "Week 1", "Week 2"]

    def test_of_filters_that_make_no_sense_is_empty(self, acme, dana_browser):
        fund(acme, 30_000)

        response = dana_browser.get("/dashboard/transactions.csv?type=loan")

        assert b"".join(response.streaming_content).count(b"\n") == 1

    def test_is_nothing_for_strangers(self, client, db):
        assert client.get("/dashboard/transactions.csv").status_code == 302

    def test_is_linked_with_the_same_filters(self, acme, dana_browser):
        fund(acme, 30_000)

        content = dana_browser.get("/dashboard/transactions?type=credit").content.decode()

        assert 'href="/dashboard/transactions.csv?type=credit"' in content


class TestStatements:
    def test_list_every_month_with_both_balances(self, acme, dana_browser):
        now = utc_now()
        fund(acme, 30_000, now=now - timedelta(days=40))

        content = dana_browser.get("/dashboard/statements").content.decode()

        last = days.day_of(now).replace(day=1)
        assert f'href="/dashboard/statements/{last:%Y-%m}"' in content
        assert "so far" in content
        assert content.count("$300.00") >= 3

    def test_teach_before_the_first_line(self, acme, dana_browser):
        assert b"No statement yet" in dana_browser.get("/dashboard/statements").content

    def test_show_opening_totals_lines_and_closing(self, acme, dana_browser):
        fund(acme, 30_000, now=NOW.replace(month=9))
        fund(acme, 5_000, now=NOW.replace(month=10), description="Week 42")
        ledger.lock(**movement(acme, 1_000, now=NOW.replace(month=10)))

        content = dana_browser.get("/dashboard/statements/2026-10").content.decode()

        assert "Statement, October 2026" in content
        assert "October 1 to October 31, 2026" in content
        for text in ("$300.00", "+$50.00", "−$10.00", "+$10.00", "$340.00", "Week 42"):
            assert text in content
        assert "since=2026-10-01&amp;until=2026-10-31" in content

    @pytest.mark.parametrize("month", ["2026-13", "2026-0", "1999-01", "2999-01", "99999-1"])
    def test_of_months_that_are_not_are_not_found(self, acme, dana_browser, month):
        fund(acme, 100)

        assert dana_browser.get(f"/dashboard/statements/{month}").status_code == 404

    def test_are_found_at_the_addresses_of_before(self, acme, dana_browser):
        answer = dana_browser.get("/dashboard/statements/2026-9?view=ledger")

        assert answer.status_code == 301
        assert answer["Location"] == "/dashboard/statements/2026-09?view=ledger"

    def test_cost_the_same_for_a_long_month(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        for _ in range(40):
            fund(acme, 100)

        with django_assert_max_num_queries(9):
            assert dana_browser.get("/dashboard/statements/2026-11").status_code == 200
