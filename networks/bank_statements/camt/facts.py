"""What a part of a message says: its texts, by the names of the elements on the way to them."""

from __future__ import annotations

from datetime import date

CURRENCY_OF = "@Ccy"  # behind the way to an amount
_DATE_LENGTH = len("2026-11-28")


class Facts:
    """The texts of one part. A way is written `Refs/EndToEndId`; the part's own text has an empty
    one. Texts of elements that are repeated follow each other behind a blank: a value that may
    stand only once cannot be read then."""

    def __init__(self) -> None:
        self.size = 0  # in characters
        self._texts: dict[str, list[str]] = {}

    def add(self, way: str, text: str) -> None:
        self.size += len(text)
        known = self._texts.get(way)
        if known is None:
            self._texts[way] = [text]
        else:
            known.append(text)

    def text(self, way: str = "") -> str:
        """The text at the end of the way; empty where there is none."""
        found = self._texts.get(way)
        if found is None:
            return ""
        return found[0] if len(found) == 1 else " ".join(found)

    def first(self, *ways: str) -> str:
        """The text of the first way that has one."""
        for way in ways:
            if found := self.text(way):
                return found
        return ""

    def code(self, way: str) -> str:
        """A choice between a code of ISO 20022 and a bank's own, or a code without that choice."""
        return self.first(f"{way}/Cd", f"{way}/Prtry", way)

    def day(self, way: str) -> date | None:
        """A date, or the date of an instant as the bank writes it: both are in the bank's time.
        None where there is none. Raises ValueError for what is no date."""
        text = self.first(f"{way}/Dt", f"{way}/DtTm", way)
        return date.fromisoformat(text[:_DATE_LENGTH]) if text else None

    def has(self, name: str) -> bool:
        """Whether something below an element of the part says anything."""
        return any(way.startswith(f"{name}/") for way in self._texts)
