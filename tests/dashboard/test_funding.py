from __future__ import annotations

from datetime import timedelta

import pytest

from funding.models import Trigger
from funding.states import FundingStatus
from tests.builders import NOW, make_funding, make_source


@pytest.fixture
def source(acme):
    return make_source(acme)


class TestFunding:
    def test_an_empty_list_says_what_will_be_here(self, dana_browser):
        assert b"No funding yet" in dana_browser.get("/dashboard/funding").content

    @pytest.mark.parametrize(
        ("status", "label"),
        [
            (FundingStatus.RESERVED, "Reserved"),
            (FundingStatus.AWAITING_CONFIRMATION, "Needs approval"),
            (FundingStatus.PENDING, "Submitted"),
            (FundingStatus.IN_TRANSIT, "In transit"),
            (FundingStatus.COMPLETED, "Completed"),
            (FundingStatus.FAILED, "Failed"),
        ],
    )
    def test_names_every_status(self, acme, source, dana_browser, status, label):
        make_funding(acme, source, status=status, amount=12_345)

        content = dana_browser.get("/dashboard/funding").content.decode()

        assert label in content
        assert "$123.45" in content
        assert "··6789" in content

    def test_says_when_money_is_expected_only_while_it_is_on_its_way(
        self, acme, source, dana_browser
    ):
        make_funding(acme, source, status=FundingStatus.IN_TRANSIT)
        assert b"expected Nov 20" in dana_browser.get("/dashboard/funding").content

        other = make_source(acme, account_number="99911")
        make_funding(acme, other, status=FundingStatus.COMPLETED)
        assert dana_browser.get("/dashboard/funding").content.count(b"expected") == 1

    def test_explains_a_return_in_words(self, acme, source, dana_browser):
        make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            trigger=Trigger.AUTO_FUNDING,
            returned=True,
            returned_at=NOW,
            return_code="R01",
            return_reason="Insufficient funds",
        )

        content = dana_browser.get("/dashboard/funding").content.decode()

        assert "Returned" in content
        assert "R01: Insufficient funds" in content
        assert "Auto-funding, ACH debit" in content

    def test_pages_show_every_row_once_in_order(self, acme, source, dana_browser):
        for number in range(1, 31):
            made = NOW + timedelta(seconds=number // 3)
            make_funding(acme, source, amount=number * 100, created_at=made)

        first = dana_browser.get("/dashboard/funding")
        older = first.context["page"].older
        second = dana_browser.get(f"/dashboard/funding?before={older}")

        lines = [*first.context["lines"], *second.context["lines"]]
        assert sorted(line.amount for line in lines) == [n * 100 for n in range(1, 31)]
        assert [line.at for line in lines] == sorted((line.at for line in lines), reverse=True)
        assert second.context["page"].older == ""

    def test_hides_other_tenants(self, rival, dana_browser):
        foreign = make_funding(rival, make_source(rival))

        assert b"No funding yet" in dana_browser.get("/dashboard/funding").content
        assert dana_browser.get(f"/dashboard/funding?before={foreign.pk}").status_code == 404

    def test_costs_the_same_for_one_and_for_twenty(
        self, acme, source, dana_browser, django_assert_max_num_queries
    ):
        for _ in range(20):
            make_funding(acme, source)

        with django_assert_max_num_queries(5):
            dana_browser.get("/dashboard/funding")
