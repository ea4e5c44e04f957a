"""Somebody at the payer's bank, at its page: finds what was asked for, reads it, approves it."""

from __future__ import annotations

import re

import httpx

from demo.story.browser import words
from demo.story.console import StoryError

_LINK = re.compile(r'<a href="(/[a-z]+/[^"]+)">(.*?)</a>', re.DOTALL)
_TITLE = re.compile(r"· (.*?)</title>")
_SECONDS = 15
_TOKEN = re.compile(r'name="token" value="([^"]+)"')


class PayersBank:
    """The page of a bank at an address, in a browser."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")

    @property
    def name(self) -> str:
        """What the bank calls itself."""
        found = _TITLE.search(self._page("/"))
        return found[1] if found else "The bank"

    def find(self, holder: str, amount: str) -> str | None:
        """The address of a request to this account holder that waits; None if there is none."""
        account = self._link("/", holder)
        return account and self._link(account, amount, "Waiting for you")

    def read(self, request: str) -> str:
        """What the page of a request says."""
        return words(self._page(request))

    def approve(self, request: str) -> str:
        """What the page says after the button was pressed. Raises StoryError."""
        token = _TOKEN.search(self._page(request))
        if token is None:
            raise StoryError(f"there is nothing to approve at {request}")
        form = {"token": token[1], "answer": "approve"}
        answer = httpx.post(
            self._address + request, data=form, timeout=_SECONDS, follow_redirects=True
        )
        return words(answer.raise_for_status().text)

    def _link(self, path: str, *texts: str) -> str | None:
        """Where the first link leads that says all of this."""
        for address, content in _LINK.findall(self._page(path)):
            if all(text in words(content) for text in texts):
                return str(address)
        return None

    def _page(self, path: str) -> str:
        return httpx.get(self._address + path, timeout=_SECONDS).raise_for_status().text
