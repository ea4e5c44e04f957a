"""Notes and an assignee in a real browser: two people at one item, and how its pages look."""

from __future__ import annotations

import pytest
import time_machine
from playwright.sync_api import expect

from common import ids
from desk.doers import person
from desk.items import assigning, notes
from desk.items.subjects import found, subject_of
from networks.ach.models import InRecord
from tenants import actors
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import kim, returned, sam, wrong_of
from tests.networks.ach.inbound.builders import NOW

__all__ = ["kim", "returned", "sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
LIST = "/admin/desk/exceptions/"


@pytest.fixture
def record(returned):
    return InRecord.objects.filter(status="review").earliest("pk")


def test_two_people_at_one_item(visit, sam, kim, record):
    path = f"{LIST}records/{record.pk}/"
    first, second = visit(sam), visit(kim)
    second.goto(path)

    first.goto(path)
    first.page.get_by_role("button", name="Take it").focus()
    first.page.keyboard.press("Enter")
    expect(first.page.get_by_text("It is yours.")).to_be_visible()
    first.page.get_by_role("textbox", name="Note").fill(
        "Called First Bank.\n<b>They</b> look into it."
    )
    first.page.get_by_role("textbox", name="Note").press("Tab")
    first.page.keyboard.press("Enter")
    expect(first.page.get_by_text("<b>They</b> look into it.")).to_be_visible()

    second.page.get_by_role("button", name="Take it").click()
    expect(second.page.get_by_text("sam@ballast.example has had it since")).to_be_visible()
    second.goto(f"{LIST}?whose=mine")
    expect(second.page.get_by_role("heading", name="Nothing is assigned to you")).to_be_visible()

    first.goto(LIST)
    first.page.get_by_role("link", name="Mine", exact=True).click()
    row = first.page.get_by_role("row").filter(has=first.page.locator(f'a[href="{path}"]'))
    expect(row.get_by_text("You", exact=True)).to_be_visible()
    first.goto(path)
    first.page.get_by_label("Give it to").select_option(label="kim@ballast.example")
    first.page.get_by_role("button", name="Give", exact=True).click()
    expect(first.page.get_by_text("It is given.")).to_be_visible()
    assert first.complaints == second.complaints == []


@in_every_look
def test_nothing_is_wrong_with_items(visit, sam, kim, record, scheme, viewport):
    item, writer = found(subject_of(record)), person(actors.staff(sam.pk))
    with time_machine.travel(NOW, tick=True):
        for text in ("Called them", f"{'A very long word: ' * 20}{'x' * 300}", "Two\nlines"):
            notes.write(item, id=ids.new("nte"), text=text, doer=writer, now=NOW)
        assigning.assign(item, to=sam.pk, seen=0, doer=writer, now=NOW)
        assigning.assign(item, to=kim.pk, seen=1, doer=writer, now=NOW)
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    base = f"/admin/desk/items/record/{record.pk}/"

    paths = (LIST, f"{LIST}?whose=mine", f"{LIST}records/{record.pk}/", base, f"{base}note/")
    assert wrong_of(visitor, paths) == {}
