"""Transactions by movement: a row for each, and all together what the ledger says."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from balance import movements
from balance import selectors as ledger_reads
from balance import services as ledger
from common import days, ids
from dashboard.shell import stops
from dashboard.shell.stops import Stops
from dashboard.statement import movement_lines
from payments.services import orders
from tenants.actors import SYSTEM
from tests.balance.builders import fund, movement
from tests.builders import NOW, make_source
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import account, pay, take
from tests.payments.builders import fund as give
from tests.payments.builders import run_due as run_payments

PATH = "/dashboard/transactions"


def rows(tenant):
    """(with whom, what, status, change, hint), the oldest first."""
    found = movements.newest(tenant.pk, count=100)
    shown = movement_lines.as_of_now(tenant_id=tenant.pk, rows=found, stopped=stops.of(tenant))
    return [
        (line.who, line.what, line.badge.label, line.change, line.hint) for line in reversed(shown)
    ]


def amounts(content: str) -> list[str]:
    return re.findall(r"[+−]?\$[0-9,.]+(?=</p>)", content)


def topped_up(tenant, number):
    top_up(tenant, amount=5_000, source=make_source(tenant, account_number=number))
    run_funding()


def paid(tenant, number):
    payment = pay(tenant, 2_000, to=account(number, holder_name="Beans LLC"))
    run_payments()
    return payment


def canceled(tenant):
    payment = pay(tenant, 2_000, to=account("30001", holder_name="Beans LLC"))
    orders.cancel(tenant_id=tenant.pk, payment_id=payment.pk, actor=SYSTEM, now=NOW)


BANK = "JPMorgan Chase\N{NO-BREAK SPACE}··"
SET_ASIDE = "$20.00 set aside and released"
KINDS = {
    "a top-up": (
        lambda tenant: topped_up(tenant, "5556667"),
        [(f"{BANK}6667", "Funding", "Completed", 5_000, "")],
    ),
    "a top-up that came back": (
        lambda tenant: topped_up(tenant, "20001"),
        [
            (f"{BANK}0001", "Funding", "Returned", 5_000, ""),
            (f"{BANK}0001", "Funding returned R01", "Returned", -5_000, ""),
        ],
    ),
    "a top-up that failed": (lambda tenant: topped_up(tenant, "10001"), []),
    "a payment": (
        lambda tenant: paid(tenant, "000123456789"),
        [("Beans LLC", "Payment", "Completed", -2_000, "")],
    ),
    "a payment on its way": (
        lambda tenant: paid(tenant, "30001"),
        [("Beans LLC", "Payment", "On its way", -2_000, "set aside")],
    ),
    "a payment that came back": (
        lambda tenant: paid(tenant, "20003"),
        [
            ("Beans LLC", "Payment", "Returned", -2_000, ""),
            ("Beans LLC", "Payment returned R03", "Returned", 2_000, ""),
        ],
    ),
    "a payment that never arrived": (
        lambda tenant: paid(tenant, "10003"),
        [("Beans LLC", "Payment", "Returned", 0, SET_ASIDE)],
    ),
    "a canceled payment": (canceled, [("Beans LLC", "Payment", "Canceled", 0, SET_ASIDE)]),
    "a payment that waits for money": (lambda tenant: pay(tenant, 999_999_00, wait=True), []),
    "a credit by staff": (
        lambda tenant: give(tenant, 70),
        [("", "test", "Posted", 70, "")],
    ),
    "a debit by staff": (
        lambda tenant: take(tenant, 70),
        [("", "test", "Posted", -70, "")],
    ),
}


class TestAKind:
    @pytest.mark.parametrize("name", sorted(KINDS))
    def test_is_one_row_that_says_what_the_ledger_does(self, acme, name):
        happens, shown = KINDS[name]
        give(acme, 10_000)
        before = ledger_reads.summary(acme.pk).available

        happens(acme)

        assert rows(acme)[1:] == shown
        after = ledger_reads.summary(acme.pk).available
        assert sum(row[3] for row in shown) == after - before

    def test_of_all_together_adds_up_to_the_lines_of_every_day_and_to_the_balance(self, acme):
        give(acme, 50_000_000, now=NOW - timedelta(days=1))
        for name in sorted(KINDS):
            KINDS[name][0](acme)
        for span in (movements.EVERYTHING, movements.between(acme.pk, days.start_of(NOW), None)):
            found = movements.newest(acme.pk, span=span, count=1_000)
            lines = ledger_reads.transactions(acme.pk).filter(sequence__gt=span.after)

            assert lines
            assert sum(row.available_delta for row in found) == sum(
                line["available_delta"] for line in lines
            )
        everything = movements.newest(acme.pk, count=1_000)
        funds = ledger_reads.summary(acme.pk)
        assert sum(row.available_delta for row in everything) == funds.available
        assert sum(row.locked_delta for row in everything) == funds.locked

    def test_says_why_it_failed_and_what_it_was_for(self, acme, dana_browser):
        give(acme, 10_000)
        order = orders.Order(amount=2_000, recipient=account("10003"), description="Rent <May>")
        orders.place(tenant_id=acme.pk, mode=acme.mode, order=order, actor=SYSTEM, now=NOW)
        run_payments()

        content = dana_browser.get(PATH).content.decode()

        assert "<span>Rent &lt;May&gt;</span>" in content
        assert re.search(r"<span>R03: [^<]+</span>", content)
        assert amounts(content) == ["$0.00", "+$100.00"]

    def test_costs_the_same_for_many(self, acme, django_assert_num_queries):
        give(acme, 1_000_000)
        for number in range(3):
            topped_up(acme, f"555666{number}")
            paid(acme, "000123456789")
        found = movements.newest(acme.pk, count=100)

        with django_assert_num_queries(2):
            shown = movement_lines.as_of_now(tenant_id=acme.pk, rows=found, stopped=Stops())

        assert len(shown) == 7


class TestThePage:
    def test_shows_a_payment_once_and_each_line_of_it_on_demand(self, acme, dana_browser):
        give(acme, 10_000)
        payment = paid(acme, "000123456789")

        content = dana_browser.get(PATH).content.decode()
        assert amounts(content) == ["−$20.00", "+$100.00"]
        assert content.count(f'href="/dashboard/payments/{payment.pk}"') == 1
        (ledger_lines,) = re.findall(r'href="([^"]+)">Show ledger lines', content)

        content = dana_browser.get(ledger_lines).content.decode()
        assert content.count(f'href="/dashboard/payments/{payment.pk}"') == 2
        (back,) = re.findall(r'href="([^"]+)">Hide ledger lines', content)
        assert (ledger_lines, back) == (f"{PATH}?view=ledger", PATH)

    def test_pages_show_every_movement_once(self, acme, dana_browser):
        fund(acme, 1_000_000)
        for number in range(1, 61):
            order = movement(acme, number * 100)
            ledger.lock(**order)
            if number % 3:
                ledger.settle(**order)

        seen, addresses = [], [PATH]
        while addresses:
            content = dana_browser.get(addresses.pop()).content.decode()
            seen += amounts(content)
            addresses = re.findall(r'rel="next" href="([^"]+)"', content)

        assert seen == [*(f"−${number}.00" for number in range(60, 0, -1)), "+$10,000.00"]

    def test_position_of_another_tenant_or_of_nobody_is_not_found(self, rival, dana_browser):
        posting = fund(rival, 100)

        for before in (posting.id, "nonsense", "btx_\0"):
            assert dana_browser.get(PATH, {"before": before}).status_code == 404

    def test_shows_nothing_of_another_tenant(self, acme, rival, dana_browser):
        give(rival, 77_700)
        payment = paid(rival, "000123456789")
        line = ledger_reads.transactions(rival.pk).get(source_id=payment.pk, type="lock")

        for query in ({}, {"search": payment.pk}, {"search": line["id"]}, {"view": "ledger"}):
            content = dana_browser.get(PATH, query).content.decode()
            assert amounts(content) == []
            assert "Beans" not in content

    def test_names_nobody_of_another_tenant(self, acme, rival):
        give(acme, 10_000)
        paid(acme, "000123456789")
        found = movements.newest(acme.pk, count=10)

        shown = movement_lines.as_of_now(tenant_id=rival.pk, rows=found, stopped=Stops())

        assert {line.who for line in shown} == {""}


class TestFilters:
    @pytest.fixture
    def lived(self, acme):
        """$300.00 came on November 17; $100.00 were set aside on the 18th and released late on the
        19th, when $20.00 more were set aside, which were settled on the 20th."""
        evening = NOW.replace(hour=4)  # 11 p.m. on the 19th in New York
        funding, first, second = ids.new("ftx"), ids.new("pay"), ids.new("pay")
        fund(acme, 30_000, source_id=funding, now=NOW - timedelta(days=3))
        first_order = movement(acme, 10_000, source_id=first)
        ledger.lock(**first_order | {"now": NOW - timedelta(days=2)})
        ledger.unlock(**first_order | {"now": evening})
        second_order = movement(acme, 2_000, source_id=second)
        ledger.lock(**second_order | {"now": evening})
        ledger.settle(**second_order | {"now": NOW})
        return {"funding": funding, "first": first, "second": second}

    def found(self, browser, **query):
        response = browser.get(PATH, query)
        assert response.status_code == 200
        return amounts(response.content.decode())

    @pytest.mark.parametrize(
        ("query", "shown"),
        [
            ({}, ["−$20.00", "$0.00", "+$300.00"]),
            ({"type": "in"}, ["+$300.00"]),
            ({"type": "out"}, ["−$20.00", "$0.00"]),
            ({"since": "2026-11-18"}, ["−$20.00", "$0.00"]),
            ({"since": "2026-11-19"}, ["−$20.00", "+$100.00"]),
            ({"since": "2026-11-20"}, []),
            ({"until": "2026-11-18"}, ["−$100.00", "+$300.00"]),
            ({"until": "2026-11-19", "type": "in"}, ["+$300.00"]),
            ({"since": "2026-11-19", "until": "2026-11-19"}, ["−$20.00", "+$100.00"]),
        ],
        ids=str,
    )
    def test_by_direction_and_eastern_days(self, lived, dana_browser, query, shown):
        assert self.found(dana_browser, **query) == shown

    @pytest.mark.parametrize(
        ("source", "shown"),
        [("funding", ["+$300.00"]), ("first", ["$0.00"]), ("second", ["−$20.00"])],
    )
    def test_by_the_id_of_a_source_or_of_any_of_its_lines(
        self, acme, lived, dana_browser, source, shown
    ):
        lines = ledger_reads.transactions(acme.pk, source_id=lived[source])
        assert self.found(dana_browser, search=f" {lived[source].upper()} ") == shown
        for line in lines:
            assert self.found(dana_browser, search=line["id"]) == shown

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("search=hello", "search"),
            ("type=lock", "type"),
            ("since=yesterday", "since"),
            ("since=2026-11-19&until=2026-11-18", "until"),
        ],
    )
    def test_that_make_no_sense_are_explained(self, lived, dana_browser, query, field):
        response = dana_browser.get(f"{PATH}?{query}")

        assert response.status_code == 422
        assert f"id_{field}_error" in response.content.decode()
        assert amounts(response.content.decode()) == []

    def test_are_kept_from_page_to_page(self, acme, dana_browser):
        for _ in range(26):
            ledger.credit(**movement(acme, 100))
            ledger.lock(**movement(acme, 50))

        content = dana_browser.get(f"{PATH}?type=out").content.decode()
        older = html.unescape(re.findall(r'rel="next" href="([^"]+)"', content)[0])

        assert older.startswith(f"{PATH}?type=out&before=")
        rest = dana_browser.get(older).content.decode()
        assert amounts(rest) == ["−$0.50"]
        assert f'href="{PATH}?type=out">Newest' in rest

    def test_cost_at_most_ten_queries(self, lived, dana_browser, django_assert_max_num_queries):
        with django_assert_max_num_queries(10):
            dana_browser.get(f"{PATH}?since=2026-11-01&until=2026-11-30")

    def test_reach_the_file_of_lines(self, lived, dana_browser):
        content = dana_browser.get(f"{PATH}?type=out&since=2026-11-18").content.decode()
        (file,) = re.findall(r'href="([^"]+)" download>CSV of ledger lines<', content)

        text = b"".join(dana_browser.get(html.unescape(file)).streaming_content).decode()

        kinds = [line.split(",")[1] for line in text.splitlines()[1:]]
        assert kinds == ["settlement", "lock", "unlock", "lock"]
