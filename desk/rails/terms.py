"""The terms of a rail by section: what each is called, how it is typed, where the JSON has it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desk.rails.kinds import (
    CENTS,
    CENTS_OR_NEVER,
    COUNT,
    CUTOFFS,
    HOST_KEY,
    MINUTES,
    PARTY,
    SECONDS,
    TEXT,
    YES_NO,
    Kind,
    choice,
    several,
)
from networks import bank_details
from networks.ach.terms import EXCUSABLE, SECS, AckFormat, Offset

HOST_KEYS = ("connection__host_key_1", "connection__host_key_2")


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


SECTIONS = (
    Section(
        "Who we are to the bank",
        (
            Term("odfi_routing", "Routing number of the bank (ODFI)", TEXT),
            Term("immediate_destination", "Immediate destination", PARTY, "Whom the file is for."),
            Term("immediate_destination_name", "Its name", TEXT),
            Term("immediate_origin", "Immediate origin", PARTY, "Who sends the file."),
            Term("immediate_origin_name", "Our name", TEXT),
            Term("company_id", "Company id", TEXT),
            Term("company_name", "Company name", TEXT, "Account holders read it."),
            Term("descriptions__topup", "Description of money in", TEXT),
            Term("descriptions__payment", "Description of payments", TEXT),
        ),
    ),
    Section(
        "What is sent",
        (
            Term("active", "Takes new entries", YES_NO),
            Term("secs", "Entry classes (SEC)", several(SECS)),
            Term("prenotes", "Prenotes", YES_NO, "A test entry before the first of an account."),
            Term(
                "rates_judged_from",
                "Return rates count from",
                COUNT,
                "Debits of 60 days. Fewer only warn.",
            ),
            Term("apply_changes", "Apply changes by itself", YES_NO, "Notifications of change."),
        ),
    ),
    Section(
        "When",
        (
            Term("cutoffs", "Cut-offs, Eastern", CUTOFFS, "One a line: 10:30, or 10:30 same day."),
            Term(
                "lead", "Frozen before a cut-off", MINUTES, "Minutes. Entries then get into files."
            ),
        ),
    ),
    Section(
        "How much",
        (
            Term("entry_max", "An entry, at most", CENTS),
            Term("same_day_max", "A same-day entry, at most", CENTS),
            Term("file_max", "A side of a file, at most", CENTS),
            Term("day_max", "A day, at most", CENTS),
            Term("entries_per_batch_max", "Entries of a batch, at most", COUNT),
            Term("entries_per_file_max", "Entries of a file, at most", COUNT),
        ),
    ),
    Section(
        "Release",
        (
            Term("dual_release", "Two people release", YES_NO),
            Term("auto_release_below", "Released by itself below", CENTS_OR_NEVER, "$0.00: never."),
        ),
    ),
    Section(
        "Our account at the bank",
        (
            Term(
                "offset",
                "Offset",
                choice(
                    {
                        str(Offset.NONE): "None: the bank makes our side",
                        str(Offset.BALANCED): "Balanced: each file has our side",
                    }
                ),
            ),
            Term("offset_routing", "Routing number of our account", TEXT),
            Term("settlement_account", "Settlement account", TEXT, "What our ledger calls it."),
        ),
    ),
    Section(
        "Acknowledgments",
        (
            Term(
                "ack_format",
                "What the bank answers",
                choice(
                    {
                        str(AckFormat.JSONL): "An acknowledgment of each file",
                        str(AckFormat.NONE): "Nothing: accepted when time is over",
                    }
                ),
            ),
            Term("ack_within", "An acknowledgment comes within", MINUTES, "Minutes."),
            Term(
                "accept_after",
                "Silence is consent after",
                MINUTES,
                "Minutes, if the bank says nothing.",
            ),
            Term("excused_faults", "Faults let pass in its files", several(sorted(EXCUSABLE))),
            Term("file_name_pattern", "File name", TEXT, "With {date}, {time}, {modifier}."),
        ),
    ),
    Section(
        "Connection",
        (
            Term("connection__host", "Host", TEXT),
            Term("connection__port", "Port", Kind(COUNT.field, str)),
            Term("connection__user", "User", TEXT),
            Term(HOST_KEYS[0], "Host key in use", HOST_KEY, "A line as ssh-ed25519 AAAA…"),
            Term(HOST_KEYS[1], "Next host key", HOST_KEY, "Before the bank changes its key."),
            Term("connection__folders__outbound", "Folder for our files", TEXT),
            Term("connection__folders__ack", "Folder of acknowledgments", TEXT),
            Term("connection__folders__inbound", "Folder of returns and changes", TEXT),
            Term("connection__folders__statements", "Folder of statements", TEXT),
            Term(
                "connection__archive", "Archive", TEXT, "Where the bank moves files that it took."
            ),
            Term("connection__connect_timeout", "Time to connect", SECONDS, "Seconds."),
            Term("connection__idle_timeout", "Time without an answer", SECONDS, "Seconds."),
        ),
    ),
)
TERMS = tuple(term for section in SECTIONS for term in section.terms)
_UNUSED = {str(AckFormat.JSONL): "accept_after", str(AckFormat.NONE): "ack_within"}


@dataclass(frozen=True)
class Line:
    """One term in words; `before` is what it was, where that differs."""

    label: str
    value: str
    before: str | None = None


@dataclass(frozen=True)
class LinesOfSection:
    title: str
    lines: list[Line]


def flat(terms: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names of the form."""
    keys = list(terms.get("connection", {}).get("host_keys", ()))
    found = dict(zip(HOST_KEYS, [*keys, "", ""], strict=False))
    return {term.name: found.get(term.name, _at(terms, term.name)) for term in TERMS}


def nested(values: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """What `RailTerms.parse` reads: `base` with the values of a form in their places."""
    stored: dict[str, Any] = copy.deepcopy(dict(base))
    for term in TERMS:
        if term.name not in HOST_KEYS:
            _put(stored, term.name, values[term.name])
    keys = [" ".join(values[name].split()) for name in HOST_KEYS]
    _put(stored, "connection__host_keys", [key for key in keys if key])
    return stored


def sections(terms: Mapping[str, Any]) -> list[LinesOfSection]:
    """All terms in words, but for the keys, which have a place of their own, and for the time
    that does not count at a bank that answers in this way."""
    values = flat(terms)
    unused = _UNUSED.get(values["ack_format"], "")
    return [
        LinesOfSection(
            section.title,
            [
                Line(term.label, _words(term, values[term.name]))
                for term in section.terms
                if term.name not in (*HOST_KEYS, unused)
            ],
        )
        for section in SECTIONS
    ]


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[Line]:
    """What changes from one version to the next; all terms, if there is none before."""
    old = flat(before) if before else {}
    return list(_differences(TERMS, old, flat(after)))


# In the place of a number that no key of ours opens any more.
UNREADABLE = "\0"


def own_account(before: str | None, after: str) -> Line:
    """That the number of our account is another one: people see how it ends. `before` is None where
    there were no terms."""
    old = None if before is None else _end_of(before)
    new = _end_of(after)
    return Line("Number of our account", f"{new} (another one)" if new == old else new, old)


def _end_of(number: str) -> str:
    if number == UNREADABLE:
        return "cannot be read"
    return f"ending in {bank_details.last4(number)}" if number else "none"


def _differences(
    terms: Sequence[Term], old: Mapping[str, Any], new: Mapping[str, Any]
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
