"""A live tenant links a bank account. A server on loopback plays Plaid: API, script and window."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from funding.models import FundingSource, LinkConsent
from tenants.models import Mode
from tests.browser.conftest import PHONE
from tests.builders import make_tenant
from tests.plaid import ACCOUNT_ID, PUBLIC_TOKEN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/dashboard/bank-accounts/link"
# What Plaid's own script does as far as a page can tell: styles with the page's nonce, a frame of
# its origin, requests to its API, and the callbacks with what its reference says.
SCRIPT = """
window.Plaid = { create(config) {
  const style = document.createElement("style");
  style.nonce = config.cspNonce;
  style.textContent = "iframe { color-scheme: normal }";
  document.head.append(style);
  fetch("API/ping", { mode: "no-cors" }).catch(() => {});
  let frame;
  addEventListener("message", ({ data, origin }) => {
    if (origin !== "API" || !frame) return;
    frame.remove();
    frame = undefined;
    if (data === "chosen") config.onSuccess("PUBLIC_TOKEN", { accounts: [{ id: "ACCOUNT_ID" }] });
    if (data === "two") config.onSuccess("PUBLIC_TOKEN", { accounts: [{ id: "1" }, { id: "2" }] });
    if (data === "cancelled") config.onExit(null, {});
    if (data === "failed") config.onExit({ error_code: "INSTITUTION_DOWN",
                                           display_message: "This bank is down." }, {});
    if (data === "old") config.onExit({ error_code: "INVALID_LINK_TOKEN" }, {});
  });
  return { open() {
    frame = document.createElement("iframe");
    frame.id = "plaid-link-iframe-1";
    frame.title = "Plaid Link";
    const back = config.receivedRedirectUri ? "&back=1" : "";
    frame.src = "API/window?token=" + config.token + back;
    document.body.append(frame);
    config.onLoad();
  } };
} };
"""
# A window that is gone before the browser has told Playwright of the click leaves it waiting.
WINDOW = """<!doctype html><html lang="en"><title>Plaid Link</title><h1>Your bank</h1>
<button>chosen</button><button>two</button><button>cancelled</button><button>failed</button>
<button>old</button><script>
if (location.search.includes("back=1")) document.querySelector("h1").textContent = "Welcome back";
for (const button of document.querySelectorAll("button"))
  button.onclick = () => setTimeout(() => parent.postMessage(button.textContent, "*"), 200);
</script></html>"""


@pytest.fixture
def acme(transactional_db):
    return make_tenant(name="Northwind Traders", mode=Mode.LIVE)


@pytest.fixture
def plaid(plaid):
    script = SCRIPT.replace("API", plaid.url)
    script = script.replace("PUBLIC_TOKEN", PUBLIC_TOKEN).replace("ACCOUNT_ID", ACCOUNT_ID)
    plaid.files["/link-initialize.js"] = ("text/javascript", script)
    plaid.files["/window"] = ("text/html", WINDOW)
    plaid.files["/ping"] = ("text/plain", "pong")
    return plaid


@pytest.fixture
def visitor(visit, plaid, dana):
    visitor = visit(dana)
    yield visitor
    assert visitor.complaints == []


def choose(page, what):
    """Open Plaid's window and press one of its buttons."""
    page.get_by_role("button", name="Connect a bank").click()
    page.frame_locator("#plaid-link-iframe-1").get_by_role("button", name=what).click()


def test_from_the_list_to_the_linked_account(visitor):
    page = visitor.page
    visitor.goto("/dashboard/bank-accounts")
    page.get_by_role("link", name="Link a bank").click()
    expect(page.get_by_label("Account holder")).to_have_value("Northwind Traders")
    page.get_by_label("Account holder").fill("Northwind Traders Inc")

    choose(page, "chosen")

    expect(page.get_by_text("First Platypus Bank ··0000 was linked.")).to_be_visible()
    source = FundingSource.objects.get()
    assert (source.account_holder_name, source.status) == ("Northwind Traders Inc", "active")
    assert LinkConsent.objects.get().source == source


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("failed", "This bank is down. Try again, or add it by hand."),
        ("old", "This page was open for too long. Reload it, and connect the bank."),
        ("two", "Choose exactly one account."),
    ],
)
def test_says_why_nothing_was_linked_and_can_be_tried_again(visitor, what, said):
    page = visitor.page
    visitor.goto(PAGE)

    choose(page, what)

    expect(page.get_by_role("alert")).to_contain_text(said)
    assert visitor.barriers() == []
    choose(page, "chosen")
    expect(page.get_by_text("was linked.")).to_be_visible()


def test_takes_a_closed_window_for_no_error(visitor):
    page = visitor.page
    visitor.goto(PAGE)

    choose(page, "cancelled")

    expect(page.get_by_role("status")).to_contain_text("Nothing was added.")
    expect(page.get_by_role("alert")).to_have_count(0)
    choose(page, "chosen")
    expect(page.get_by_text("was linked.")).to_be_visible()


def test_asks_for_the_name_before_the_window_opens(visitor):
    page = visitor.page
    visitor.goto(PAGE)
    page.get_by_label("Account holder").fill("")

    page.get_by_role("button", name="Connect a bank").click()

    expect(page.get_by_label("Account holder")).to_be_focused()
    expect(page.locator("#plaid-link-iframe-1")).to_have_count(0)


def test_goes_on_after_a_banks_own_page(visitor):
    page = visitor.page
    visitor.goto(PAGE)
    page.get_by_label("Account holder").fill("Northwind Traders Inc")
    page.get_by_role("button", name="Connect a bank").click()
    expect(page.locator("#plaid-link-iframe-1")).to_be_visible()

    visitor.goto(f"{PAGE}?oauth_state_id=9d5feadd")

    window = page.frame_locator("#plaid-link-iframe-1")
    expect(window.get_by_text("Welcome back")).to_be_visible()
    window.get_by_role("button", name="chosen").click()
    expect(page.get_by_text("was linked.")).to_be_visible()
    assert FundingSource.objects.get().account_holder_name == "Northwind Traders Inc"


def test_fills_a_phone_with_the_window(visit, plaid, dana):
    visitor = visit(dana, viewport=PHONE)
    visitor.goto(PAGE)

    visitor.page.get_by_role("button", name="Connect a bank").click()

    frame = visitor.page.locator("#plaid-link-iframe-1")
    expect(frame).to_be_visible()
    assert frame.bounding_box() == {"x": 0, "y": 0, **PHONE}
    assert visitor.sideways_scroll() <= 0
    assert visitor.complaints == []


def test_says_so_when_the_script_is_blocked(visit, plaid, dana):
    visitor = visit(dana)
    visitor.page.route("**/link-initialize.js", lambda route: route.abort())
    visitor.goto(PAGE)

    visitor.page.get_by_role("button", name="Connect a bank").click()

    expect(visitor.page.get_by_role("alert")).to_contain_text("could not be loaded")


def test_without_javascript_offers_the_other_way(visit, plaid, dana):
    visitor = visit(dana, java_script_enabled=False)
    visitor.page.goto(visitor.address + PAGE)

    # Text in <noscript> is none to Playwright, so the notice itself is tested in tests/dashboard.
    expect(visitor.page.get_by_role("button", name="Connect a bank")).to_be_hidden()
    visitor.page.get_by_role("link", name="Add by hand instead").click()

    notice = visitor.page.get_by_text("No payment network is connected yet")
    expect(notice).to_be_visible()  # who could verify numbers of a live account?


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("is_connected", [True, False])
def test_bars_nobody(visit, dana, request, scheme, is_connected):
    if is_connected:
        request.getfixturevalue("plaid")
    visitor = visit(dana, scheme=scheme, viewport=PHONE)
    visitor.goto(PAGE)

    assert visitor.barriers() == []
    assert visitor.sideways_scroll() <= 0
    assert visitor.complaints == []
