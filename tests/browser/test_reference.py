"""The API reference in a browser: readable, quiet, and forgetful about keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dashboard.developers.docs.reference.pages import NOTICES, PAGES
from tenants import key_text
from tenants.models import Mode
from tests.browser.conftest import DESK, PHONE, in_every_look, in_looks
from tests.browser.test_pages import looked_at
from tests.builders import make_key, make_source

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

PATHS = ("/docs/api", *(f"/docs/api/{page.slug}" for page in (*PAGES, NOTICES)))
OPEN_ALL = "for (const one of document.querySelectorAll('main details')) one.open = true"
# Everywhere that a page could keep a key beyond its own life.
KEPT = """() => JSON.stringify([
  {...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state, name,
  [...document.querySelectorAll("*")].flatMap((one) => [...one.attributes].map((a) => a.value)),
  [...document.querySelectorAll("input, textarea")].map((one) => one.value),
])"""


@pytest.fixture
def key(transactional_db, acme):
    return make_key(acme)


def give(page, text):
    page.get_by_label("Test key").fill(text)
    page.get_by_role("button", name="Use it").click()


def operation(page, name):
    return page.locator(f"#{name}")


class TestKey:
    def test_is_in_the_samples_and_nowhere_else(self, visit, key):
        visitor = visit()
        visitor.goto("/docs/api/payments")

        give(visitor.page, key)

        expect(visitor.page.locator("[data-key]").first).to_have_text(key)
        assert visitor.page.locator("[data-key]").all_text_contents() == [key] * 15
        assert key not in visitor.page.evaluate(KEPT)
        assert visitor.complaints == []

    @pytest.mark.parametrize("leave", ["reload", "go_back"])
    def test_is_gone_when_the_page_was_left(self, visit, key, leave):
        visitor = visit()
        visitor.goto("/docs/api/payments")
        give(visitor.page, key)
        if leave == "go_back":
            visitor.goto("/docs/api/recipients")

        getattr(visitor.page, leave)()

        expect(visitor.page.locator("[data-key]").first).to_have_text("bal_test_…")
        assert key not in visitor.page.content()
        assert key not in visitor.page.evaluate(KEPT)
        assert key not in str(visitor.page.context.storage_state())

    def test_is_forgotten_on_demand(self, visit, key):
        visitor = visit()
        visitor.goto("/docs/api/payments")
        give(visitor.page, key)

        visitor.page.get_by_role("button", name="Forget it").click()

        assert key not in visitor.page.content()
        expect(visitor.page.get_by_label("Test key")).to_be_focused()

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (key_text.new(Mode.LIVE), "This is a live key."),
            ("bal_test_short", "This is not a whole test key."),
            ("<b>x</b>", "This is not a whole test key."),
        ],
        ids=["live", "short", "markup"],  # the first text is another one in each process
    )
    def test_is_no_other_text(self, visit, text, said):
        visitor = visit()
        visitor.goto("/docs/api/payments")
        asked = []
        visitor.page.on("request", lambda request: asked.append(request.url))

        give(visitor.page, text)

        expect(visitor.page.locator("[data-key-status]")).to_contain_text(said)
        assert text not in visitor.page.evaluate(KEPT)
        assert text not in visitor.page.inner_text("main")
        self.try_one(visitor.page)
        assert [url for url in asked if not url.endswith("/favicon.svg")] == []

    def try_one(self, page):
        shown = operation(page, "payment_list")
        shown.get_by_role("button", name="Try it").click()
        shown.get_by_role("button", name="Send").click()
        expect(shown.locator("[data-line]")).to_contain_text("Paste a test key first")


class TestTry:
    def test_reads_with_filters(self, visit, key):
        visitor = visit()
        visitor.goto("/docs/api/top-ups")
        give(visitor.page, key)
        shown = operation(visitor.page, "fundingTransaction_list")
        shown.get_by_role("button", name="Try it").click()
        shown.get_by_label("status").select_option("failed")
        shown.get_by_label("limit").fill("2")

        with visitor.page.expect_request("**/api/v1/**") as asked:
            shown.get_by_role("button", name="Send").click()

        address = asked.value.url.removeprefix(visitor.address)
        assert address == "/api/v1/funding/transactions?limit=2&status=failed"
        assert "cookie" not in asked.value.all_headers()
        expect(shown.locator("[data-line]")).to_contain_text(re.compile(r"^200 OK in \d+ ms"))
        expect(shown.locator("[data-answer]")).to_contain_text('"hasMore": false')
        assert visitor.complaints == []

    def test_writes_with_a_new_idempotency_key_each_time(self, visit, key, acme):
        source = make_source(acme)
        visitor = visit()
        visitor.goto("/docs/api/top-ups")
        give(visitor.page, key)
        shown = operation(visitor.page, "topUp_create")
        shown.get_by_role("button", name="Try it").click()
        shown.get_by_label("body").fill(f'{{"amount": 700, "fundingSourceId": "{source.pk}"}}')
        keys = set()

        for _ in range(2):
            with visitor.page.expect_response("**/api/v1/**") as answered:
                shown.get_by_role("button", name="Send").click()
            assert answered.value.status == 201
            keys.add(answered.value.request.headers["idempotency-key"])

        assert len(keys) == 2
        expect(shown.locator("[data-answer]")).to_contain_text('"amount": 700')

    def test_shows_what_was_refused(self, visit, key):
        visitor = visit()
        visitor.goto("/docs/api/payments")
        give(visitor.page, key)
        shown = operation(visitor.page, "payment_retrieve")
        shown.get_by_role("button", name="Try it").click()
        shown.get_by_label("payment_id").fill("pay_../../x")
        shown.get_by_role("button", name="Send").click()

        expect(shown.locator("[data-line]")).to_contain_text(re.compile(r"^404"))
        expect(shown.locator("[data-answer]")).to_contain_text('"code": "not_found"')
        link = shown.get_by_role("link", name="What not_found means")
        expect(link).to_have_attribute("href", "/docs/errors#not_found")

    def test_asks_for_an_id_with_a_placeholder(self, visit):
        visitor = visit()
        visitor.goto("/docs/api/payments")
        shown = operation(visitor.page, "payment_retrieve")

        shown.get_by_role("button", name="Try it").click()

        expect(shown.get_by_label("payment_id")).to_have_value("")
        expect(shown.get_by_label("payment_id")).to_have_attribute("placeholder", "pay_…")


class TestKeyboard:
    def test_chooses_a_language_opens_fields_and_tries(self, visit, key):
        visitor = visit()
        visitor.goto("/docs/api/balance")
        page = visitor.page
        page.get_by_label("curl").focus()
        page.keyboard.press("ArrowRight")
        first = operation(page, "balance_summary")
        expect(first.locator(".sample--python")).to_be_visible()
        expect(first.locator(".sample--curl")).to_be_hidden()

        page.keyboard.press("Tab")
        page.keyboard.type(key)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Forget it")).to_be_focused()
        first.get_by_role("button", name="Try it").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        expect(first.locator("[data-answer]")).to_contain_text('"availableBalance": 0')
        assert visitor.complaints == []

    def test_copies_the_sample_that_is_shown(self, visit):
        visitor = visit(permissions=["clipboard-read", "clipboard-write"])
        visitor.goto("/docs/api/balance")
        first = operation(visitor.page, "balance_summary")

        first.get_by_role("button", name="Copy").first.click()

        expect(first.get_by_role("button", name="Copied")).to_be_visible()
        copied = visitor.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("curl http")
        assert copied.endswith('-H "Authorization: Bearer bal_test_…"')


@in_every_look
def test_nothing_is_wrong(visit, scheme, viewport):
    assert looked_at(visit(scheme=scheme, viewport=viewport), PATHS) == {}


COVERED = """() => [...document.querySelectorAll(".snippet-box")].filter((box) => {
  const button = box.querySelector("button").getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(box.querySelector("code"));
  return [...text.getClientRects()].some((line) => line.width && line.top < button.bottom - 1
    && line.bottom > button.top + 1 && line.left < button.right && line.right > button.left);
}).map((box) => box.innerText.slice(0, 60))"""


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_no_copy_button_covers_code(visit, viewport):
    visitor = visit(viewport=viewport)
    for path in (*PATHS, "/docs", "/docs/guide", "/docs/webhooks"):
        visitor.goto(path)
        assert visitor.page.locator(".snippet-box").count() > 0 or path not in PATHS
        assert visitor.page.evaluate(COVERED) == [], path


@in_looks("light-phone")
def test_nothing_is_wrong_with_all_of_it_open(visit, scheme, viewport):
    visitor = visit(scheme=scheme, viewport=viewport)
    wrong = {}
    for path in PATHS:
        visitor.goto(path)
        visitor.page.evaluate(OPEN_ALL)
        for button in visitor.page.get_by_role("button", name="Try it").all():
            button.click()
        if found := [*visitor.barriers(), *visitor.complaints]:
            wrong[path] = found
        assert visitor.sideways_scroll() <= 0, path
    assert wrong == {}


def test_samples_are_there_without_a_script(visit):
    visitor = visit(java_script_enabled=False)
    visitor.page.goto(f"{visitor.address}/docs/api/payments")

    expect(visitor.page.get_by_text("curl -X POST").first).to_be_visible()
    expect(visitor.page.get_by_label("Test key")).to_be_hidden()
    visitor.page.get_by_label("Python").check()
    expect(visitor.page.locator(".sample--python").first).to_be_visible()
