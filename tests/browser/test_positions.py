"""The desk's pages of money at instant networks, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from common.clock import utc_now
from networks.instant.network import InstantNetwork
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import sam, wrong_of
from tests.builders import make_staff
from tests.networks.instant.builders import RAIL, make_rail, payment
from transfers import positions
from transfers.positions import Move

__all__ = ["sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]
PAGES = "/admin/desk/positions/"


@pytest.fixture
def move(sam):
    """Of a rail at which one payment went, and another one waits."""
    now = utc_now()
    make_rail(keeps_position=True, position_warn_below=50_000_000)
    make_rail(name="rtp_one", profile="rtp")
    fund = Move(rail=RAIL, cents=123_456_789)
    positions.put_in_force(fund, reason="The first", by="Ada", now=now)
    told = [payment(amount=100_000_000), payment(amount=90_000_000)]
    InstantNetwork(RAIL).submit_many(told, now=now)
    kim = make_staff("kim@ballast.example")
    return positions.propose(fund, reason="Friday's payroll", by=kim.pk, now=now)


@in_every_look
def test_nothing_is_wrong_with_the_pages(visit, sam, move, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    paths = (PAGES, f"{PAGES}new/", f"{PAGES}{move.pk}/", "/admin/")
    if shots := os.environ.get("SHOTS"):
        for number, path in enumerate(paths):
            visitor.goto(path)
            name = f"{number}-{scheme}-{viewport['width']}.png"
            visitor.page.screenshot(path=Path(shots) / name, full_page=True)

    assert wrong_of(visitor, paths) == {}
