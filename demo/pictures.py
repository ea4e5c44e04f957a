"""`./run pictures`: the screenshots of docs/img, taken from a new copy with its demo tenant."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, StorageState, ViewportSize, sync_playwright

from devstack import chromium

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "img"
DESK = ViewportSize(width=1280, height=860)
PHONE = ViewportSize(width=390, height=844)
QUIET = ("--disable-background-networking", "--disable-component-update", "--no-first-run")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One file: a page as somebody sees it."""

    name: str
    path: str
    scheme: Literal["light", "dark"] = "light"
    phone: bool = False
    staff: bool = False


PICTURES = (
    Picture(name="overview", path="/dashboard/"),
    Picture(name="overview-dark", path="/dashboard/", scheme="dark"),
    Picture(name="overview-phone", path="/dashboard/", phone=True),
    Picture(name="transactions", path="/dashboard/transactions"),
    Picture(name="payments-phone", path="/dashboard/payments", phone=True, scheme="dark"),
    Picture(name="auto-funding", path="/dashboard/auto-funding"),
    Picture(name="approvals-phone", path="/dashboard/approvals", phone=True),
    Picture(name="guide", path="/docs/guide"),
    Picture(name="staff", path="/admin/", staff=True),
    Picture(name="staff-dark", path="/admin/", staff=True, scheme="dark"),
)


def main() -> int:
    """Take every picture; each replaces the one before."""
    FOLDER.mkdir(exist_ok=True)
    logins = json.loads(os.environ["BALLAST_DEMO"])
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses its sandbox to root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=[*QUIET, *root])
        tenant = _sign_in(browser, logins["email"], logins["password"])
        staff = _sign_in(browser, logins["adminEmail"], logins["adminPassword"])
        for picture in PICTURES:
            _take(browser, picture, staff if picture.staff else tenant)
            sys.stdout.write(f"docs/img/{picture.name}.png\n")
    return 0


def _sign_in(browser: Browser, email: str, password: str) -> StorageState:
    """The cookies of somebody who is signed in."""
    with _window(browser) as page:
        page.goto("/accounts/login/")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(lambda url: "/accounts/login" not in url)
        return page.context.storage_state()


def _take(browser: Browser, picture: Picture, cookies: StorageState) -> None:
    viewport = PHONE if picture.phone else DESK
    with _window(
        browser, color_scheme=picture.scheme, viewport=viewport, storage_state=cookies
    ) as page:
        for _ in range(2):  # the first drawing loads the font
            page.goto(picture.path)
            page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{picture.name}.png")


@contextlib.contextmanager
def _window(browser: Browser, **options: Any) -> Iterator[Page]:
    address = os.environ["BASE_URL"]
    context = browser.new_context(base_url=address, reduced_motion="reduce", **options)
    try:
        yield context.new_page()
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
