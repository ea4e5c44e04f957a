"""The page of one row: what is there, and in a line what is not."""

from __future__ import annotations

import re

import pytest

from funding.states import FundingStatus
from tests.builders import NOW, make_auto_funding, make_funding, make_source


def labels(page):
    return re.findall(r"<dt>\s*([^<:]+?):?\s*</dt>", page.partition("All columns</summary>")[2])


@pytest.fixture
def page_of(desk, acme):
    def opened(**columns):
        funding = make_funding(acme, make_source(acme), **columns)
        address = f"/admin/desk/funding/{funding.pk}/"
        return desk.get(address).content.decode()

    return opened


def test_names_what_is_empty_in_one_line(page_of):
    page = page_of(status=FundingStatus.RESERVED)

    assert "Empty" in labels(page)
    assert "Return code" not in labels(page)
    line = re.search(r"[^>]*return code, return reason[^<]*", page)
    assert line
    assert line[0][0].isupper()


def test_shows_what_is_there(page_of):
    page = page_of(
        status=FundingStatus.FAILED, returned=True, return_code="R10", returned_at=NOW, amount=4_200
    )

    assert {"Amount", "Return code", "Returned at", "Returned"} <= {*labels(page)}
    assert "$42.00" in page
    assert "R10" in page


def test_an_amount_that_is_not_set_is_empty_in_a_list(desk, acme):
    make_auto_funding(acme, enabled=False, low_balance_threshold=None)

    page = desk.get("/admin/funding/autofundingconfig/").content.decode()

    assert '<td class="none">–</td>' in page
    assert 'data-label="low balance threshold"' not in page
