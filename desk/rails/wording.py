"""Terms of a rail as people read and type them, by section: what each is called, how it is typed,
where the JSON has it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from desk.rails.kinds import Kind
from networks import bank_details


@dataclass(frozen=True)
class Term:
    """`name` is the form's; its parts between `__` are the keys in the JSON."""

    name: str
    label: str
    kind: Kind
    help: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Line:
    """One term in words; `before` is what it was, where that differs."""

    label: str
    value: str
    before: str | None = None

    @property
    def in_words(self) -> str:
        change = self.value if self.before is None else f"{self.before} → {self.value}"
        return f"{self.label}: {change}"


@dataclass(frozen=True)
class LinesOfSection:
    title: str
    lines: list[Line]


@dataclass(frozen=True)
class Wording:
    """The terms of rails of one kind. A list in the JSON, `listed`, has a field for each of its
    places, `places`."""

    sections: tuple[Section, ...]
    places: tuple[str, ...]
    listed: str

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for section in self.sections for term in section.terms)

    def flat(self, terms: Mapping[str, Any]) -> dict[str, Any]:
        """The values by the names of the form."""
        values = [*(_at(terms, self.listed) or ()), *[""] * len(self.places)]
        found = dict(zip(self.places, values, strict=False))
        return {term.name: found.get(term.name, _at(terms, term.name)) for term in self.terms}

    def nested(self, values: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
        """What the terms parse: `base` with the values of a form in their places."""
        stored: dict[str, Any] = copy.deepcopy(dict(base))
        for term in self.terms:
            if term.name not in self.places:
                _put(stored, term.name, values[term.name])
        listed = [" ".join(values[name].split()) for name in self.places]
        _put(stored, self.listed, [value for value in listed if value])
        return stored

    def in_words(
        self, terms: Mapping[str, Any], *, left_out: tuple[str, ...] = ()
    ) -> list[LinesOfSection]:
        """All terms, but for those that have a place of their own on the page."""
        values = self.flat(terms)
        return [
            LinesOfSection(
                section.title,
                [
                    Line(term.label, _words(term, values[term.name]))
                    for term in section.terms
                    if term.name not in left_out
                ],
            )
            for section in self.sections
        ]

    def differences(self, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[Line]:
        """What changes from one version to the next; all terms, if there is none before."""
        old = self.flat(before) if before else {}
        return list(_differences(self.terms, old, self.flat(after)))


# In the place of a number that no key of ours opens any more.
UNREADABLE = "\0"


def own_account(before: str | None, after: str) -> Line:
    """That the number of our account is another one: people see how it ends. `before` is None where
    there were no terms."""
    old = None if before is None else end_of(before)
    new = end_of(after)
    return Line("Number of our account", f"{new} (another one)" if new == old else new, old)


def end_of(number: str) -> str:
    if number == UNREADABLE:
        return "cannot be read"
    return f"ending in {bank_details.last4(number)}" if number else "none"


def _differences(
    terms: tuple[Term, ...], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Line]:
    for term in terms:
        if old.get(term.name) != new[term.name]:
            before = _words(term, old[term.name]) if term.name in old else None
            yield Line(term.label, _words(term, new[term.name]), before)


def _words(term: Term, value: Any) -> str:
    return "–" if value is None else term.kind.words(value)


def _at(stored: Mapping[str, Any], name: str) -> Any:
    value: Any = stored
    for part in name.split("__"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _put(stored: dict[str, Any], name: str, value: Any) -> None:
    *path, last = name.split("__")
    for part in path:
        stored = stored.setdefault(part, {})
    stored[last] = value
