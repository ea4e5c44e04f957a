"""How often a person may ask for pages and files."""

from __future__ import annotations

import re

import pytest

from tests.builders import browser_of, make_member

FILES = (
    "/dashboard/transactions.csv",
    "/dashboard/payments.csv",
    "/dashboard/bank-accounts/authorizations.csv",
    "/dashboard/audit-log.csv",
)


@pytest.fixture(autouse=True)
def _few(settings):
    settings.PAGES_PER_MINUTE, settings.FILES_PER_MINUTE = 4, 2


def opened(browser, address):
    """The answer, a file to its end: an open one keeps its cursor."""
    response = browser.get(address)
    response.getvalue()
    return response


def refusal(browser, address, *, after):
    """The first 429 after so many answers; a minute may begin on the way, and then once more."""
    for count in range(2 * after + 1):
        response = opened(browser, address)
        if response.status_code == 429:
            assert count >= after
            return response
        assert response.status_code == 200
    raise AssertionError(f"{address} is not limited")


@pytest.mark.parametrize("address", FILES)
def test_a_file_too_many_is_refused_and_says_when_to_try_again(dana_browser, address):
    response = refusal(dana_browser, address, after=2)

    seconds = int(response["Retry-After"])
    assert 1 <= seconds <= 60
    content = response.content.decode()
    assert "downloaded many files in a minute" in content
    assert re.search(rf"Try again in {seconds} seconds?\. Nothing was changed", content)
    assert response["Cache-Control"] == "private, no-store"
    assert dana_browser.get("/dashboard/settings/").status_code != 429


def test_files_of_all_kinds_count_together(dana_browser):
    statuses = [opened(dana_browser, address).status_code for address in FILES * 2]

    assert 429 in statuses


def test_pages_are_limited_too(dana_browser):
    response = refusal(dana_browser, "/dashboard/funding", after=4)

    assert b"opened too many pages in a minute" in response.content


def test_another_person_of_the_tenant_goes_on(dana_browser, acme):
    refusal(dana_browser, "/dashboard/funding", after=4)
    lee = browser_of(make_member(acme, email="lee@acme.example"))

    assert lee.get("/dashboard/funding").status_code == 200


def test_another_session_of_the_person_does_not(dana_browser, dana, settings):
    settings.FILES_PER_MINUTE = 1
    browsers = [dana_browser, browser_of(dana), browser_of(dana)]

    assert 429 in [opened(browser, FILES[0]).status_code for browser in browsers]


def test_a_refusal_reads_nothing_of_the_tenant(dana_browser, django_assert_max_num_queries):
    refusal(dana_browser, FILES[0], after=2)

    with django_assert_max_num_queries(3) as seen:
        response = opened(dana_browser, FILES[0])

    if response.status_code == 429:
        assert not any("membership" in query["sql"] for query in seen.captured_queries)
