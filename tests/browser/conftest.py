"""A real browser against the live server, watched: a page may not complain about anything."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, ViewportSize, expect

from devstack import chromium
from tenants.models import Role, Tenant, User
from tests.builders import enter_as, make_member

PHONE = ViewportSize(width=390, height=844)
DESK = ViewportSize(width=1280, height=900)
_LOOKS = {
    "light-desk": ("light", DESK),
    "dark-phone": ("dark", PHONE),
    "light-phone": ("light", PHONE),
    "dark-desk": ("dark", DESK),
}


def in_looks(*by_day: str) -> pytest.MarkDecorator:
    """Runs a test in these schemes at these widths, and in all of them only with `--nightly`."""
    return pytest.mark.parametrize(
        ("scheme", "viewport"),
        [
            pytest.param(*look, id=name, marks=[] if name in by_day else pytest.mark.nightly)
            for name, look in _LOOKS.items()
        ],
    )


in_every_look = in_looks("light-desk", "dark-phone")
# What htmx says of a request that it or the browser called off: the page was left, or typed on in.
CALLED_OFF = ("htmx:afterRequest", "htmx:sendAbort")
# Nothing but the pages under test.
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
expect.set_options(timeout=15_000)  # milliseconds; a busy machine needs more than Playwright's 5 s


@pytest.fixture(scope="session", autouse=True)
def _synchronous_database(playwright: Playwright) -> Iterator[None]:
    """Playwright runs an event loop in this thread; Django must not take that for async code.

    While the loop runs Django keeps a connection of its own for it, to be closed before it ends.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    yield
    connections.close_all()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses it to root
    return browser_type_launch_args | {
        "executable_path": chromium.find(),
        "args": [*QUIET, *sandbox],
    }


@pytest.fixture(autouse=True)
def _fresh_rate_limits() -> None:
    cache.clear()


@dataclass
class Visitor:
    """A browser window of one person. `complaints` collects what the page had to complain about."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def goto(self, path: str) -> None:
        """Open a page. When it has loaded, its scripts have run."""
        self.page.goto(self.address + path)

    def sideways_scroll(self) -> int:
        width: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return width

    def barriers(self) -> list[str]:
        """What axe finds, as `rule: elements`."""
        found = Axe().run(self.page).response["violations"]
        return [f"{rule['id']}: {[node['target'] for node in rule['nodes']]}" for rule in found]


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Browser, live_server: Any) -> Iterator[Visit]:
    """Opens windows: `visit(user, scheme="dark", viewport=PHONE)`."""
    contexts = []

    def opened(
        user: User | None = None,
        *,
        scheme: Any = "light",
        viewport: ViewportSize = DESK,
        **options: Any,
    ) -> Visitor:
        context = browser.new_context(
            color_scheme=scheme, viewport=viewport, reduced_motion="reduce", **options
        )
        contexts.append(context)
        if user is not None:
            context.add_cookies([_session_cookie(user, live_server.url)])
        visitor = Visitor(page=context.new_page(), address=live_server.url)
        _listen(visitor)
        return visitor

    yield opened
    for context in contexts:
        context.close()
    _let_the_server_finish()


def _let_the_server_finish() -> None:
    """Its threads live as long as the browser's connections, and hold the database that long."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=30)


def _session_cookie(user: User, address: str) -> Any:
    client = Client()
    enter_as(client, user)
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": address}


def _listen(visitor: Visitor) -> None:
    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(CALLED_OFF):
            visitor.complaints.append(message.text)

    visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
    visitor.page.on("console", note)


@pytest.fixture
def dana(transactional_db: None, acme: Tenant) -> User:
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)
