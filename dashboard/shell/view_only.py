"""Pages as staff see them who view as a tenant: they may look, so what would act is disabled.

The server refuses whatever they send (`access`); this only shows it. It works on the finished
page, in one place, so that no template has to ask who is looking.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any

from django.urls import Resolver404, resolve

_WHY = "Staff view: only to look"
_DISABLED = (("disabled", None), ("title", _WHY))
_ACTING_ATTRIBUTES = frozenset({"hx-post", "hx-put", "hx-patch", "hx-delete"})

Attributes = list[tuple[str, str | None]]


def acts(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view whose page is there to change something."""
    view.acts = True  # type: ignore[attr-defined]  # any function takes attributes
    return view


def without_actions(page: str) -> str:
    """`page` with the buttons of its acting forms disabled, and those that lead to such forms; the
    rest stays as it is, to the letter."""
    found = _Actions(page)
    found.feed(page)
    found.close()
    for start, (end, text) in sorted(found.changes.items(), reverse=True):
        page = page[:start] + text + page[end:]
    return page


class _Actions(HTMLParser):
    """Reads a page. `changes` are the tags to write anew: where each begins, its end, the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.changes: dict[int, tuple[int, str]] = {}
        self._lines = list(accumulate((len(line) + 1 for line in page.split("\n")), initial=0))
        self._buttons: dict[int, tuple[int, str]] = {}  # of the form that is being read
        self._does_form_act = False
        self._is_link_disabled = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = dict(attrs)
        if tag == "form":
            self._buttons, self._does_form_act = {}, False
        elif tag == "input" and values.get("name") == "acting_for":  # components/guard.html
            self._does_form_act = True
        elif tag == "button" and "disabled" not in values:
            self._buttons[self._place] = self._anew(tag, [*attrs, *_DISABLED])
        elif tag == "a" and _is_button_that_acts(values):
            self._is_link_disabled = True
            self.changes[self._place] = self._anew("span", _disabled(values))
            return
        if not _ACTING_ATTRIBUTES.isdisjoint(values):
            self.changes[self._place] = self._anew(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._does_form_act:
            self.changes |= self._buttons
        elif tag == "a" and self._is_link_disabled:
            self._is_link_disabled = False
            self.changes[self._place] = (self._place + len("</a>"), "</span>")

    @property
    def _place(self) -> int:
        """Where in the page the tag begins that is being read."""
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _anew(self, tag: str, attributes: Attributes) -> tuple[int, str]:
        """Write the tag that is being read anew as `tag`: where the old one ends, and the text."""
        end = self._place + len(self.get_starttag_text() or "")
        kept = [pair for pair in attributes if pair[0] not in _ACTING_ATTRIBUTES]
        return end, f"<{' '.join([tag, *map(_attribute, kept)])}>"


def _attribute(pair: tuple[str, str | None]) -> str:
    name, value = pair
    return name if value is None else f'{name}="{escape(value)}"'


def _is_button_that_acts(values: dict[str, str | None]) -> bool:
    """Whether a link looks like a button and leads to a page that is there to change something."""
    if not (values.get("class") or "").startswith("button"):
        return False
    path = (values.get("href") or "").partition("#")[0].partition("?")[0]
    try:
        return getattr(resolve(path).func, "acts", False)
    except Resolver404:
        return False


def _disabled(values: dict[str, str | None]) -> Attributes:
    return [
        ("class", values.get("class")),
        ("role", "link"),
        ("aria-disabled", "true"),
        ("title", _WHY),
    ]
