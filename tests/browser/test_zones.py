"""Readers elsewhere see the days of the books, on the screen and on paper."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.balance.builders import fund

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HALLOWEEN = datetime(2026, 11, 1, 3, 30, tzinfo=UTC)  # 11:30 PM on October 31 in New York
LATE = datetime(2026, 11, 22, 4, 30, tzinfo=UTC)  # 11:30 PM on November 21

ZONES = [
    ("Asia/Tokyo", "Nov 1, 2026, 12:30 PM (Asia/Tokyo), 2026-11-01T03:30:00Z (UTC)"),
    ("America/New_York", "Oct 31, 2026, 11:30 PM (America/New_York), 2026-11-01T03:30:00Z (UTC)"),
    ("Europe/Berlin", "Nov 1, 2026, 4:30 AM (Europe/Berlin), 2026-11-01T03:30:00Z (UTC)"),
]


@pytest.mark.parametrize(("zone", "tooltip"), ZONES)
def test_october_ends_in_october_and_a_day_is_that_day(acme, dana, visit, zone, tooltip):
    fund(acme, 1_000, now=HALLOWEEN)
    fund(acme, 2_000, now=LATE)
    visitor = visit(dana, timezone_id=zone)
    rows = visitor.page.locator("section", has_text="Movements")
    lines, shown_days = rows.locator("time"), rows.locator("th[scope=rowgroup]:visible")

    visitor.goto("/dashboard/statements/2026-10")
    for medium in ("screen", "print"):
        visitor.page.emulate_media(media=medium)
        assert shown_days.all_inner_texts() == ["Oct 31"]
        assert lines.all_inner_texts() == ["11:30 PM EDT"]
        assert "October 31, 2026, US Eastern time" in visitor.page.inner_text("main")
    title = lines.first.get_attribute("title") or ""
    assert title.replace("\N{NARROW NO-BREAK SPACE}", " ") == tooltip

    visitor.page.emulate_media(media="screen")
    visitor.goto("/dashboard/transactions?since=2026-11-21&until=2026-11-21")
    assert visitor.page.locator("main time").all_inner_texts() == ["11:30 PM EST"]
    shown_days = visitor.page.locator("th[scope=rowgroup]:visible")
    assert [text.split(",")[0] for text in shown_days.all_inner_texts()] == ["Nov 21"]
    assert visitor.complaints == []
