"""A person with a browser: signs in, reads pages, sends forms."""

from __future__ import annotations

import re
from html import unescape

import httpx

from demo.story.api import BASE_URL
from demo.story.console import StoryError

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_TAG = re.compile(r"<[^>]*>")
_FILE_ROW = re.compile(r'<a href="/admin/desk/files/(ofl_\w+)/">.*?</tr>', re.DOTALL)
_MONEY = re.compile(r"\$([\d,]+)\.(\d\d)")


class Person:
    """Somebody who is signed in."""

    def __init__(self, email: str, password: str) -> None:
        self.email = email
        self._http = httpx.Client(base_url=BASE_URL, timeout=30, follow_redirects=True)
        self.send("/accounts/login/", login=email, password=password)
        if "sessionid" not in self._http.cookies:
            raise StoryError(f"{email} could not sign in")

    def read(self, path: str) -> str:
        """The text of a page."""
        return words(self._page(path))

    def send(self, path: str, **fields: str) -> str:
        """Open the page, fill in its form and send it; the text of the page that follows."""
        token = _TOKEN.search(self._page(path))
        if token is None:
            raise StoryError(f"{self.email} finds no form at {path}")
        answer = self._http.post(
            path,
            data={"csrfmiddlewaretoken": token[1], **fields},
            headers={"Referer": f"{BASE_URL}{path}"},
        )
        if answer.status_code != 200:
            raise StoryError(f"{path} answered {answer.status_code} to {self.email}")
        return words(answer.text)

    def files(self, next_step: str) -> dict[str, int]:
        """The files at the desk of which this is the next step, with debits and credits in
        cents."""
        page, _, _ = self._page("/admin/desk/files/").partition("<h2>All files</h2>")
        found = {row[1]: words(row[0]) for row in _FILE_ROW.finditer(page)}
        return {
            file_id: sum(int(whole.replace(",", "")) * 100 + int(cents) for whole, cents in sums)
            for file_id, text in found.items()
            if next_step in text and (sums := _MONEY.findall(text))
        }

    def _page(self, path: str) -> str:
        answer = self._http.get(path)
        if answer.status_code != 200:
            raise StoryError(f"{path} answered {answer.status_code} to {self.email}")
        return answer.text


def words(page: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(_TAG.sub(" ", page)).split())
