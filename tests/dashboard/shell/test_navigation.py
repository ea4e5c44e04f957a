from __future__ import annotations

import re

import pytest

from tests.builders import make_endpoint, make_source
from tests.payments.builders import fund, pay

CURRENT = re.compile(r'class="nav__link" href="([^"]+)" aria-current="(\w+)"')


def current(browser, path):
    return CURRENT.findall(browser.get(path).content.decode())


@pytest.mark.parametrize(
    "path", ["/dashboard/", "/dashboard/transactions", "/dashboard/team", "/dashboard/developers"]
)
def test_marks_the_page_that_is_shown(dana_browser, path):
    assert current(dana_browser, path) == [(path, "page")]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/dashboard/statements", "transactions"),
        ("/dashboard/topup/", "funding"),
        ("/dashboard/pay/", "payments"),
        ("/dashboard/payments/approval", "payments"),
        ("/dashboard/recipients/new", "recipients"),
        ("/dashboard/auto-funding/settings", "auto-funding"),
        ("/dashboard/bank-accounts/enter", "bank-accounts"),
        ("/dashboard/api-keys/new", "api-keys"),
        ("/dashboard/webhooks/new", "webhooks"),
        ("/dashboard/team/invite", "team"),
        ("/dashboard/notifications", "settings"),
    ],
)
def test_marks_the_section_of_a_page_below(dana_browser, path, line):
    assert current(dana_browser, path) == [(f"/dashboard/{line}", "true")]


def test_marks_the_section_of_one_row(acme, dana_browser):
    fund(acme, 10_000)
    endpoint, source, payment = make_endpoint(acme), make_source(acme), pay(acme, 100)

    for path in (
        f"webhooks/{endpoint.pk}",
        f"bank-accounts/{source.pk}/remove",
        f"payments/{payment.pk}",
    ):
        section = path.partition("/")[0]
        assert current(dana_browser, f"/dashboard/{path}") == [(f"/dashboard/{section}", "true")]
