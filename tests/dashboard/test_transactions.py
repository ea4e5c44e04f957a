from __future__ import annotations

import re

from balance import services as ledger
from tests.balance.builders import fund, movement


def amounts(content: str) -> list[str]:
    return re.findall(r"[+−]\$[0-9,.]+", content)


class TestTransactions:
    def test_an_empty_list_says_what_will_be_here(self, dana_browser):
        assert b"No transactions yet" in dana_browser.get("/dashboard/transactions").content

    def test_shows_each_kind_with_its_change_and_the_balance_after(self, acme, dana_browser):
        fund(acme, 30_000, description="Top-up")
        lock = movement(acme, 10_000, description="Payment")
        ledger.lock(**lock)
        ledger.settle(**lock)

        content = dana_browser.get("/dashboard/transactions").content.decode()

        assert amounts(content) == ["−$100.00", "−$100.00", "+$300.00"]
        assert content.count("$200.00") == 2
        assert "Settlement" in content

    def test_pages_show_every_row_once(self, acme, dana_browser):
        for number in range(1, 61):
            fund(acme, number * 100)

        seen, addresses = [], ["/dashboard/transactions"]
        while addresses:
            content = dana_browser.get(addresses.pop()).content.decode()
            seen += amounts(content)
            addresses = re.findall(r'rel="next" href="([^"]+)"', content)

        assert seen == [f"+${number}.00" for number in range(60, 0, -1)]

    def test_a_position_of_another_tenant_is_not_found(self, rival, dana_browser):
        posting = fund(rival, 100)

        response = dana_browser.get(f"/dashboard/transactions?before={posting.id}")

        assert response.status_code == 404

    def test_a_page_deep_down_costs_as_much_as_the_first(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        postings = [fund(acme, 100) for _ in range(40)]

        with django_assert_max_num_queries(6):
            dana_browser.get("/dashboard/transactions")
        with django_assert_max_num_queries(7):
            dana_browser.get(f"/dashboard/transactions?before={postings[30].id}")
