"""Reconciliation at the desk in a real browser: its looks, and matching by the keyboard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reconciliation import booking, clearing, closing
from reconciliation.models import BookedLine, Clearing, ClearingKind, Match, StatementLine
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import sam, wrong_of
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.books import book, match_all
from tests.reconciliation.statements import MONDAY, NOW, TUESDAY, of_kinds, take
from tests.solvency.builders import adjust, live

__all__ = ["sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
HOME = "/admin/desk/reconciliation/"
OF_RAIL = f"{HOME}rails/{RAIL}/"


@pytest.fixture
def days(acme):
    """A day that is closed with an unknown credit in suspense, and one that waits: a batch that
    nothing explains, and a line of the books that no statement shows."""
    make_rail()
    statements.in_force()
    book(acme, MONDAY, 1_234_567, -98_700, 45_000)
    take(
        of_kinds(MONDAY, ("batch", 1_234_567), ("batch", -98_700), ("credit", 4_200), ("fee", -150))
    )
    match_all(MONDAY)
    booking.book_open(RAIL, None, now=NOW)
    closed = closing.close(RAIL, now=NOW)
    waits = book(acme, TUESDAY, 3_000, 2_000, 77_700)
    take(of_kinds(TUESDAY, ("batch", 5_000), opening=closed.bank))
    match_all(TUESDAY)
    northwind = live()
    for cents in (4_200, 4_200, -900):
        adjust(northwind, cents)
    booked = BookedLine.objects.get(booked_as="suspense")
    clearing.propose(
        booked, ClearingKind.INCOME, reason="Interest, says the bank", by="usr_ada", now=NOW
    )
    return waits


def batch():
    return StatementLine.objects.get(amount=5_000)


@in_every_look
def test_nothing_is_wrong_with_reconciliation(visit, sam, days, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    booked = BookedLine.objects.get(booked_as="suspense")
    match = Match.objects.get(amount=1_234_567)
    paths = (
        HOME,
        OF_RAIL,
        f"{OF_RAIL}2026-11-16/",
        f"{OF_RAIL}2026-11-17/",
        f"{OF_RAIL}2026-11-17/books/",
        f"{OF_RAIL}2026-11-17/transit/",
        f"{OF_RAIL}2026-11-17/ahead/",
        f"{OF_RAIL}books/{days[2]}/",
        f"{OF_RAIL}open/",
        f"{HOME}matches/{match.pk}/",
        f"{HOME}lines/{batch().pk}/match/",
        f"{HOME}lines/{batch().pk}/book/",
        f"{HOME}suspense/",
        f"{HOME}suspense/{booked.pk}/",
        f"{HOME}suspense/{booked.pk}/clear/",
        "/admin/desk/proofs/",
        f"{HOME}clearings/{Clearing.objects.get().pk}/",
    )
    if shots := os.environ.get("SHOTS"):
        for number, path in enumerate(paths):
            visitor.goto(path)
            name = f"{number}-{scheme}-{viewport['width']}.png"
            visitor.page.screenshot(path=Path(shots) / name, full_page=True)

    assert wrong_of(visitor, paths) == {}


def test_a_line_is_matched_by_the_keyboard(visit, sam, days):
    visitor = visit(sam)
    visitor.goto(f"{HOME}lines/{batch().pk}/match/")
    page = visitor.page
    first = page.locator("input[name=books]").first
    expect(first).to_be_focused()
    difference = page.locator("[data-difference]")
    expect(difference).to_have_text("$50.00")
    wanted = [page.locator(f"input[value='{line}']") for line in days[:2]]
    while not wanted[0].is_checked() or not wanted[1].is_checked():
        at = page.evaluate("document.activeElement.value")
        if at in map(str, days[:2]):
            page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    expect(difference).to_have_text("$0.00")
    page.keyboard.press("Enter")  # there is no reason yet
    expect(page.locator("[name=reason]")).to_be_focused()
    page.keyboard.type("Two files in one sum")
    wanted[0].focus()
    page.keyboard.press("Enter")

    expect(page.get_by_text("Matched.")).to_be_visible()
    assert Match.objects.get(amount=5_000).expected_lines == 2
    assert visitor.complaints == []
