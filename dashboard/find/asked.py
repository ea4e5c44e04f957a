"""What somebody may mean by what they typed into the search."""

from __future__ import annotations

import re
from dataclasses import dataclass

from common import ids, money

LENGTH_MAX = 128  # an `X-Request-Id` is no longer
# Ten letters of an id name a millisecond. Fewer name ids of many tenants, which would all be read.
PREFIX_LETTERS = 10
_ID = re.compile(r"([a-z]{2,4})_([0-9a-hjkmnp-tv-z]*)")


@dataclass(frozen=True)
class IdSpan:
    """The ids that begin with `text`, which is one id if it is whole."""

    prefix: str
    text: str

    @property
    def is_whole(self) -> bool:
        return ids.is_id(self.text, self.prefix)

    @property
    def is_short(self) -> bool:
        """Whether too little was typed to look for it."""
        return len(self.text) - len(self.prefix) - 1 < PREFIX_LETTERS

    @property
    def lookups(self) -> dict[str, str]:
        """For `filter`: bounds, because the wall keeps LIKE from using an index."""
        if self.is_whole:
            return {"pk": self.text}
        return {"pk__gte": self.text, "pk__lt": f"{self.text}~"}


@dataclass(frozen=True)
class Asked:
    """One search. `cents` if the text is an amount, `ids` if it is, or begins, an id."""

    text: str
    cents: int | None
    ids: IdSpan | None

    @property
    def is_word(self) -> bool:
        """Whether it may be an id that a caller gave to a request."""
        return bool(self.text) and " " not in self.text


def read(typed: str) -> Asked:
    """`typed`, cut, without what no text of ours can hold."""
    text = " ".join(typed.replace("\0", " ").split())[:LENGTH_MAX]
    match = _ID.fullmatch(text.lower())
    span = IdSpan(match[1], match[0]) if match else None
    return Asked(text=text, cents=money.parse_dollars(text) or None, ids=span)
