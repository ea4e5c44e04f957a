"""Pages about instant payments and requests for payment, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from common.clock import utc_now
from funding.models import FundingMethod
from payments.models import AUTO
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import sam, wrong_of
from tests.builders import make_source
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import account, fund, pay, run_due

__all__ = ["sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]


@pytest.fixture
def ways(acme):
    """A payment that went another way, one that has, and a request that waits for its payer."""
    now = utc_now()
    fund(acme, 500_000, now=now)
    refused = pay(acme, 120_000, to="51001", method=AUTO, now=now)
    run_due(now=now, rounds=8)
    waits = top_up(
        acme, source=make_source(acme, account_number="30001"), method=FundingMethod.RTP, now=now
    )
    run_funding(now=now)
    return refused.pk, waits.pk


def saved(tenant):
    """A recipient on the tenant's list."""
    kept = recipients.save(
        tenant_id=tenant.pk, details=account(), actor=SYSTEM, now=utc_now(), nickname="Supplier"
    )
    return kept.pk


def looked_at(visitor, paths, name):
    if shots := os.environ.get("SHOTS"):
        for number, path in enumerate(paths):
            visitor.goto(path)
            visitor.page.screenshot(path=Path(shots) / f"{number}-{name}.png", full_page=True)
    return wrong_of(visitor, paths)


@in_every_look
def test_nothing_is_wrong_with_the_tenants_pages(visit, dana, acme, ways, scheme, viewport):
    payment, request = ways
    visitor = visit(dana, scheme=scheme, viewport=viewport)
    paths = (
        f"/dashboard/payments/{payment}",
        f"/dashboard/funding/{request}",
        f"/dashboard/pay/?recipient={saved(acme)}",
    )

    assert looked_at(visitor, paths, f"tenant-{scheme}-{viewport['width']}") == {}


@in_every_look
def test_nothing_is_wrong_with_the_desks_pages(visit, sam, ways, scheme, viewport):
    payment, request = ways
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    paths = (f"/admin/desk/payments/{payment}/", f"/admin/desk/funding/{request}/")

    assert looked_at(visitor, paths, f"desk-{scheme}-{viewport['width']}") == {}
