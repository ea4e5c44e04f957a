"""The chart of the overview under the pointer, the finger and the arrow keys."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from balance import services as ledger
from common import days
from common.clock import utc_now
from funding.models import AutoFundingDecision
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.browser.conftest import PHONE, in_every_look
from tests.builders import make_auto_funding, make_funding, make_source
from tests.payments.builders import pay

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]


@pytest.fixture
def spending(acme):
    """Five days on which money went out, and one, the day before yesterday, on which some came."""
    now = utc_now()
    fund(acme, 123_456, now=now - timedelta(days=5))
    for back in (5, 4, 3, 2, 1):
        ledger.lock(**movement(acme, 10_000, now=now - timedelta(days=back)))
    at = now - timedelta(days=2)
    make_auto_funding(acme, last_triggered_at=at)
    AutoFundingDecision.objects.create(
        tenant=acme,
        outcome="fired",
        reason="below_threshold",
        available=0,
        in_flight=0,
        threshold=0,
        amount=50_000,
        created_at=at,
    )
    due = days.day_of(now) + timedelta(days=2)
    source = make_source(acme)
    make_funding(acme, source, status=FundingStatus.PENDING, expected_availability_date=due)
    pay(acme, 4_000, now=now)
    return now


def on(now, back):
    day = days.day_of(now) - timedelta(days=back)
    return f"{day:%a, %b} {day.day}, {day.year}"


class TestValues:
    def test_follow_the_pointer(self, visit, dana, spending):
        visitor = visit(dana)
        visitor.goto("/dashboard/")
        box = visitor.page.locator("#chart-slider").bounding_box()
        value = visitor.page.locator("#chart-value")

        visitor.page.mouse.move(box["x"] + box["width"] * 27.5 / 30, box["y"] + 20)

        expect(value).to_have_text(
            f"{on(spending, 2)}: $834.56. Auto-funding started adding $500.00."
        )
        visitor.page.mouse.move(box["x"] + 1, box["y"] + 20)
        expect(value).to_have_text(f"{on(spending, 29)}: $0.00.")
        visitor.page.mouse.click(box["x"] + box["width"] * 28.5 / 30, box["y"] + 20)
        expect(value).to_have_text(f"{on(spending, 1)}: $734.56.")
        assert visitor.complaints == []

    def test_follow_the_arrow_keys_and_are_read_aloud(self, visit, dana, spending):
        visitor = visit(dana)
        visitor.goto("/dashboard/?days=7")
        slider = visitor.page.get_by_role("slider", name="Day")
        expect(slider).to_have_attribute("aria-valuetext", f"{on(spending, 0)}: $694.56.")

        slider.focus()
        visitor.page.keyboard.press("ArrowLeft")

        expect(slider).to_have_attribute("aria-valuetext", f"{on(spending, 1)}: $734.56.")
        visitor.page.keyboard.press("Home")
        expect(visitor.page.locator("#chart-value")).to_have_text(f"{on(spending, 6)}: $0.00.")
        assert visitor.complaints == []

    def test_follow_the_finger(self, visit, dana, spending):
        visitor = visit(dana, viewport=PHONE, has_touch=True)
        visitor.goto("/dashboard/?days=7")
        slider = visitor.page.locator("#chart-slider")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()

        visitor.page.touchscreen.tap(box["x"] + box["width"] * 5.5 / 7, box["y"] + 20)

        expect(visitor.page.locator("#chart-value")).to_have_text(f"{on(spending, 1)}: $734.56.")
        assert visitor.complaints == []

    def test_stay_at_the_chosen_day_when_the_chart_is_loaded_again(self, visit, dana, spending):
        visitor = visit(dana)
        visitor.goto("/dashboard/?days=7")
        visitor.page.locator("#chart-slider").press("ArrowLeft")
        before = visitor.page.locator("#chart-cursor").get_attribute("d")

        with visitor.page.expect_response("**/balance-chart*"):
            visitor.page.evaluate(
                "htmx.ajax('GET', '/dashboard/balance-chart?days=7',"
                " {source: '#chart-live', target: '#chart-live', select: '#chart-live',"
                " swap: 'outerHTML'})"
            )

        expect(visitor.page.locator("#chart-value")).to_have_text(f"{on(spending, 1)}: $734.56.")
        assert visitor.page.locator("#chart-cursor").get_attribute("d") == before
        expect(visitor.page.locator("#chart-slider")).to_be_focused()
        assert visitor.complaints == []


@in_every_look
def test_the_chart_has_no_barrier(visit, dana, spending, viewport, scheme):
    visitor = visit(dana, viewport=viewport, scheme=scheme)
    visitor.goto("/dashboard/")
    visitor.page.locator("#chart-slider").press("ArrowLeft")

    assert visitor.barriers() == []
    assert visitor.sideways_scroll() <= 0
