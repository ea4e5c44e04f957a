from __future__ import annotations

from balance import services as ledger
from tests.balance.builders import fund, movement


class TestOverview:
    def test_shows_the_three_amounts(self, acme, dana_browser):
        fund(acme, 123_456)
        ledger.lock(**movement(acme, 20_000))
        ledger.change_pending(tenant_id=acme.pk, delta=7_700)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "$1,034.56" in content
        assert "$200.00" in content
        assert "$77.00" in content

    def test_warns_when_a_bank_took_money_back(self, acme, dana_browser):
        ledger.debit(**movement(acme, 5_000))

        content = dana_browser.get("/dashboard/").content.decode()

        assert "−$50.00" in content
        assert "The balance is short" in content

    def test_shows_nothing_of_another_tenant(self, rival, dana_browser):
        fund(rival, 99_999)

        assert "999.99" not in dana_browser.get("/dashboard/").content.decode()

    def test_htmx_gets_the_live_part_alone(self, acme, dana_browser):
        fund(acme, 5_000)

        content = dana_browser.get("/dashboard/", headers={"HX-Request": "true"}).content.decode()

        assert "$50.00" in content
        assert "<html" not in content

    def test_costs_the_same_however_much_happened(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        for _ in range(12):
            fund(acme, 1_000)

        with django_assert_max_num_queries(9):
            dana_browser.get("/dashboard/")
