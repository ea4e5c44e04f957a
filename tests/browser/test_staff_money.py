"""Staff in a browser: hold and release, correct a balance by two people, stop, suspend."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from balance import selectors
from balance.models import AdjustmentProposal
from common.clock import utc_now
from funding.transfer import FUNDING
from tenants.models import Switch
from tests.builders import ApiClient, make_key, make_staff
from tests.funding.builders import run_due, top_up
from transfers import submission

pytestmark = pytest.mark.browser


@pytest.fixture
def ann(transactional_db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def ben(transactional_db):
    return make_staff("ben@ballast.example")


def act(visitor, link, reason, button, *, said):
    """Follow an action of the page, say why, and carry it out; the next page says what was done."""
    visitor.page.get_by_role("link", name=link, exact=True).first.click()
    visitor.page.get_by_label("Reason").fill(reason)
    visitor.page.get_by_role("button", name=button).click()
    expect(visitor.page.get_by_text(said)).to_be_visible()


def save(visitor):
    visitor.page.get_by_role("button", name="Save", exact=True).click()
    expect(visitor.page.get_by_text("was added successfully")).to_be_visible()


def test_hold_and_release(visit, acme, ann):
    funding = top_up(acme, now=utc_now())
    desk = visit(ann)
    desk.goto(f"/admin/desk/funding/{funding.pk}/")

    act(
        desk,
        "Hold for a look",
        "New account, large amount",
        "Hold for a look",
        said=f"{funding.pk} is held.",
    )
    assert submission.submit_due(FUNDING, now=utc_now()) == 0

    act(desk, "Release", "Called the tenant", "Release", said=f"{funding.pk} is released.")
    run_due(now=utc_now())
    funding.refresh_from_db()
    assert funding.status == "completed"


def test_an_adjustment_by_two_people(visit, acme, ann, ben):
    desk = visit(ann)
    desk.goto(f"/admin/balance/adjustmentproposal/add/?tenant={acme.pk}&type=credit")
    desk.page.get_by_label("Amount in dollars").fill("12.50")
    desk.page.get_by_label("Reason").fill("Fee charged twice")
    save(desk)
    proposal = AdjustmentProposal.objects.get()
    page = f"/admin/balance/adjustmentproposal/{proposal.pk}/change/"
    desk.goto(page)
    assert desk.page.get_by_role("link", name="Approve", exact=True).count() == 0

    other = visit(ben)
    other.goto(page)
    act(
        other,
        "Approve",
        "Checked the invoice",
        "Approve and post: $12.50",
        said=f"{proposal.pk} is posted: a credit of $12.50 is on the statement of {acme.name}.",
    )

    assert selectors.summary(acme.pk).available == 1_250


def test_a_stop_is_seen_everywhere_until_its_release(visit, acme, ann):
    desk = visit(ann)
    desk.goto("/admin/tenants/switch/add/?kind=funding")
    desk.page.get_by_label("Reason").fill("Bank answers oddly")
    save(desk)
    desk.goto("/admin/")
    banner = desk.page.locator(".operator-banner")
    expect(banner).to_contain_text("Bank answers oddly")

    banner.get_by_role("link", name="Release").click()
    act(desk, "Release", "Bank is back", "Release", said="is released.")

    desk.goto("/admin/")
    expect(desk.page.get_by_role("heading").first).to_be_visible()
    expect(banner).to_have_count(0)
    assert Switch.objects.get().released_by == ann


def test_a_suspended_tenant_moves_no_money_until_its_release(visit, acme, ann):
    api = ApiClient(make_key(acme))
    desk = visit(ann)
    desk.goto(f"/admin/desk/tenants/{acme.pk}/")

    act(
        desk, "Suspend", "Court order 17", f"Suspend {acme.name}", said=f"{acme.name} is suspended."
    )
    assert api.get("/api/v1/balance/summary").status_code == 403

    act(
        desk,
        "Release",
        "The order was lifted",
        f"Release {acme.name}",
        said=f"{acme.name} is released.",
    )
    assert api.get("/api/v1/balance/summary").status_code == 200
    assert desk.complaints == []
