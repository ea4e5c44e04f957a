"""Every list of tenants' pages stays small: at most 60 KB of HTML with fifty rows."""

from __future__ import annotations

import re

import pytest

from api.models import ApiRequest
from common.clock import utc_now
from funding.services.linking import SOURCES_PER_TENANT_MAX
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Role
from tenants.services.keys import KEYS_PER_TENANT_MAX
from tests.balance.builders import fund
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
    publish,
)
from tests.dashboard.shell.test_query_counts import PAGES, first_rows, path_of
from tests.funding.agreeing import agree
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import account, pay
from tests.payments.builders import run_due as run_payments

ROWS = 50
BYTES_MAX = 60_000
ROW = re.compile(rb"<tr>.*?</tr>", re.DOTALL)
URL = "https://hooks.a-rather-long-name.example.com/webhooks/balance/in"


@pytest.fixture
def busy(acme):
    """Fifty of everything that a tenant can have as many of, and as many as it can have of what is
    bounded."""
    make_auto_funding(acme, confirm_topups=True, confirmation_threshold=1, last_triggered_at=NOW)
    fund(acme, 100_000_000)
    source = make_source(acme)
    for number in range(SOURCES_PER_TENANT_MAX - 1):
        make_source(acme, account_number=f"50001{number:02}" if number else "50001")
    for _ in range(KEYS_PER_TENANT_MAX):
        make_key(acme)
    make_endpoint(acme, url=URL)
    for number in range(ROWS):
        _grow(acme, source, number)
    run_funding()
    run_payments()
    return acme


def _grow(tenant, source, number):
    top_up(tenant, source=source, now=utc_now())  # waits for an approval
    make_funding(tenant, source, amount=123_456 + number)
    agree(source, amount_max=1_000)
    email = f"dana.featherstonehaugh-{number}@acme.example"
    make_member(tenant, email=email, role=Role.APPROVER)
    payee = account(f"770077{number:02}", holder_name=f"Featherstonehaugh Supplies {number} LLC")
    recipients.save(tenant_id=tenant.pk, details=payee, actor=SYSTEM, now=NOW)
    pay(tenant, 1_000 + number, to=payee)
    publish(tenant, now=utc_now())
    ApiRequest.objects.create(
        tenant=tenant,
        key=ApiKey.objects.filter(tenant=tenant).earliest("pk"),
        request_id=f"acme-nightly-run-{number}",
        method="GET",
        path="/api/v1/balance/transactions",
        status=404,
        duration_us=12_345,
        created_at=utc_now(),
    )


def size_of(page):
    """Bytes of the page if its table had fifty rows, each as long as the longest that is there."""
    rows = ROW.findall(page)
    return len(page) - sum(map(len, rows)) + ROWS * max(map(len, rows), default=0)


def test_fifty_rows_of_any_list_take_at_most_60_kb(busy, dana_browser):
    ids = first_rows(busy)
    pages = {page: dana_browser.get(path_of(page, ids)).content for page in PAGES}

    sizes = {page: size_of(content) for page, content in pages.items()}
    assert {page: size for page, size in sizes.items() if size > BYTES_MAX} == {}
    assert {page for page, content in pages.items() if len(ROW.findall(content)) > 25} >= {
        "audit_log",
        "authorizations",
        "events",
        "funding",
        "payments",
        "recipients",
        "requests",
        "statement",
        "team",
        "transactions",
        "webhook",
    }


def test_pages_have_no_indents_of_their_templates(dana_browser):
    content = dana_browser.get("/dashboard/").content

    assert re.findall(rb"\n[ \n]", re.sub(rb"<pre.*?</pre>", b"", content)) == []
