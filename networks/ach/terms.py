"""What a bank and we agreed about one rail: who we are to it, when it takes files and how much.

It is stored as JSON (`RailVersion.terms`). Amounts are cents, times Eastern, durations seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import time, timedelta
from enum import StrEnum
from typing import Any

from networks import routing
from networks.ach.connection_terms import Connection

SECS = ("CCD", "PPD", "WEB")
PURPOSES = ("topup", "payment")
# The layout: the amount of an entry has ten digits, totals have twelve, of which banks read ten.
ENTRY_AMOUNT_MAX = 9_999_999_999
TOTAL_MAX = 999_999_999_999
COUNT_MAX = 999_999  # entries and addenda of a batch
FILE_ENTRIES_MAX = 1_000_000  # so that files of one bank have different trace numbers
# What some banks leave out of their files, and a rail may let pass: nothing that says how much.
EXCUSABLE = frozenset(
    {
        "file_header_missing",
        "file_control_missing",
        "batch_control_missing",
        "block_count_wrong",
        "batch_count_wrong",
    }
)
# What a name of a file may be made of.
NAME_PARTS = ("date", "time", "modifier", "rail")

_PRINTABLE = re.compile(r"[A-Z0-9 !-/:-@\[-`{-~]+")
_PARTY = re.compile(r" \d{9}|[A-Z0-9]{10}")
_COMPANY_ID = re.compile(r"[A-Z0-9]{1,10}")
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]+")


class InvalidTerms(ValueError):
    """Terms that no file can be made by. `problems` has a sentence for each field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {problem}" for name, problem in problems.items()))
        self.problems = dict(problems)


class Offset(StrEnum):
    NONE = "none"
    BALANCED = "balanced"  # each file carries the opposite sum to our own account


class AckFormat(StrEnum):
    JSONL = "jsonl"
    NONE = "none"  # the bank says nothing: a file is accepted when `accept_after` is over


@dataclass(frozen=True, kw_only=True)
class Cutoff:
    """Until when the bank takes a file, and whether entries of it may settle the same day."""

    at: time
    same_day: bool = False


@dataclass(frozen=True, kw_only=True)
class RailTerms:
    """All of it. Raises InvalidTerms when it is made of what cannot be."""

    odfi_routing: str
    immediate_destination: str  # ten characters: a blank and a routing number, or the bank's id
    immediate_destination_name: str
    immediate_origin: str
    immediate_origin_name: str
    company_id: str
    company_name: str
    descriptions: Mapping[str, str]  # by purpose: what the account holder's statement says
    secs: tuple[str, ...] = SECS
    cutoffs: tuple[Cutoff, ...]
    lead: timedelta = timedelta(minutes=15)
    same_day_max: int = 100_000_000
    entry_max: int = ENTRY_AMOUNT_MAX
    file_max: int = TOTAL_MAX
    day_max: int = TOTAL_MAX
    entries_per_batch_max: int = 100_000
    entries_per_file_max: int = 250_000
    offset: Offset = Offset.NONE
    offset_routing: str = ""
    settlement_account: str = ""  # a note for people; our ledger goes by the name of the rail
    ack_format: AckFormat = AckFormat.JSONL
    ack_within: timedelta = timedelta(hours=2)
    accept_after: timedelta = timedelta(hours=4)
    file_name_pattern: str = "{date}{time}{modifier}.ach"
    dual_release: bool = True
    auto_release_below: int = 0  # 0: never
    excused_faults: tuple[str, ...] = ()  # of files from the bank, by the reader's codes
    rates_judged_from: int = 200  # debits of 60 days, before returns can stop an originator
    prenotes: bool = False
    apply_changes: bool = True
    active: bool = False
    connection: Connection = field(default_factory=Connection)

    def __post_init__(self) -> None:
        problems: dict[str, str] = {}
        for name, problem in _problems(self):
            problems.setdefault(name, problem)
        if problems:
            raise InvalidTerms(problems)

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> RailTerms:
        """The terms that `as_json` stored. Raises InvalidTerms, also for names that it does not
        know."""
        known = {each.name for each in fields(cls)}
        if strange := sorted(set(stored) - known):
            raise InvalidTerms(dict.fromkeys(strange, "is no term"))
        values = {name: _read(name, value) for name, value in stored.items()}
        try:
            return cls(**values)
        except TypeError as error:
            missing = sorted(_required() - set(stored))
            raise InvalidTerms(dict.fromkeys(missing or [str(error)], "is missing")) from error

    def as_json(self) -> dict[str, Any]:
        """What `parse` reads."""
        stored: dict[str, Any] = _plain(asdict(self))
        return stored

    @property
    def odfi(self) -> str:
        """The first eight digits of the bank's routing number, with which traces begin."""
        return self.odfi_routing[:8]


def _required() -> set[str]:
    return {
        each.name
        for each in fields(RailTerms)
        if each.default is MISSING and each.default_factory is MISSING
    }


_DURATIONS = {"lead", "ack_within", "accept_after"}


def _read(name: str, value: Any) -> Any:
    try:
        return _read_plain(name, value)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InvalidTerms({name: "cannot be read"}) from error


def _read_plain(name: str, value: Any) -> Any:
    if name in _DURATIONS:
        return timedelta(seconds=value)
    if name == "cutoffs":
        return tuple(
            Cutoff(at=time.fromisoformat(each["at"]), same_day=bool(each.get("same_day")))
            for each in value
        )
    if name in {"secs", "excused_faults"}:
        return tuple(value)
    if name == "offset":
        return Offset(value)
    if name == "ack_format":
        return AckFormat(value)
    if name == "connection":
        return Connection.parse(value)
    return value


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, timedelta):
        return int(value.total_seconds())
    if isinstance(value, time):
        return value.isoformat(timespec="minutes")
    return str(value) if isinstance(value, StrEnum) else value


Problems = Iterator[tuple[str, str]]


def _problems(terms: RailTerms) -> Problems:
    yield from _parties(terms)
    yield from _words(terms)
    yield from _schedule(terms)
    yield from _limits(terms)
    yield from _rest(terms)
    for problem in terms.connection.problems():
        yield "connection", problem


def _parties(terms: RailTerms) -> Problems:
    if not _is_routing_number(terms.odfi_routing):
        yield "odfi_routing", "is no routing number"
    for name in ("immediate_destination", "immediate_origin"):
        if not _is_party(_text(getattr(terms, name))):
            yield name, "needs ten characters, or a blank and a routing number"
    for name in ("immediate_destination_name", "immediate_origin_name"):
        if not _is_printable(getattr(terms, name), 23):
            yield name, "needs 1 to 23 upper-case letters and digits"
    if not _COMPANY_ID.fullmatch(_text(terms.company_id)) or not terms.company_id.strip("0"):
        yield "company_id", "needs 1 to 10 upper-case letters and digits"
    if not _is_printable(terms.company_name, 16):
        yield "company_name", "needs 1 to 16 upper-case letters and digits"


def _words(terms: RailTerms) -> Problems:
    if not isinstance(terms.descriptions, Mapping) or set(terms.descriptions) != set(PURPOSES):
        yield "descriptions", f"needs one for each of {', '.join(PURPOSES)}"
    elif not all(_is_printable(word, 10) for word in terms.descriptions.values()):
        yield "descriptions", "need 1 to 10 upper-case letters and digits"
    elif RESERVED & set(terms.descriptions.values()):
        yield "descriptions", "are reserved by the rules for entries of another kind"
    if not set(terms.excused_faults) <= EXCUSABLE:
        yield "excused_faults", f"are some of {', '.join(sorted(EXCUSABLE))}"
    if not terms.secs or not set(terms.secs) <= set(SECS):
        yield "secs", f"are some of {', '.join(SECS)}"


# Company entry descriptions that the rules keep for entries of one kind.
RESERVED = frozenset(
    {
        "REVERSAL",
        "RETRY PYMT",
        "RETURN FEE",
        "ACCTVERIFY",
        "RECLAIM",
        "NONSETTLED",
        "AUTOENROLL",
        "REDEPCHECK",
        "NO CHECK",
        "HCCLAIMPMT",
        "PAYROLL",
        "PURCHASE",
    }
)


def _schedule(terms: RailTerms) -> Problems:
    yield from _cutoffs(terms)
    times = [each.at for each in terms.cutoffs]
    if not timedelta(0) <= terms.lead <= timedelta(hours=4):
        yield "lead", "is 0 to 4 hours"
    elif times and timedelta(hours=times[0].hour, minutes=times[0].minute) < terms.lead:
        yield "lead", "begins on the day before the first cut-off"
    for name in ("ack_within", "accept_after"):
        if not timedelta(minutes=1) <= getattr(terms, name) <= timedelta(days=3):
            yield name, "is 1 minute to 3 days"


def _cutoffs(terms: RailTerms) -> Problems:
    times = [each.at for each in terms.cutoffs]
    if not times or times != sorted(set(times)):
        yield "cutoffs", "need one at least, each later than the one before"
    if any(at.tzinfo or at.second or at.microsecond for at in times):
        yield "cutoffs", "are full minutes, Eastern"
    if [each.same_day for each in terms.cutoffs] != sorted(
        (each.same_day for each in terms.cutoffs), reverse=True
    ):
        yield "cutoffs", "of the same day come before the others"
    if (terms.same_day_max > 0) != any(each.same_day for each in terms.cutoffs):
        yield "same_day_max", "is above zero where a cut-off takes the same day, and zero otherwise"


_RANGES = {
    "same_day_max": (0, ENTRY_AMOUNT_MAX),
    "entry_max": (1, ENTRY_AMOUNT_MAX),
    "file_max": (1, TOTAL_MAX),
    "day_max": (1, 1000 * TOTAL_MAX),
    "entries_per_batch_max": (1, COUNT_MAX),
    "entries_per_file_max": (1, FILE_ENTRIES_MAX),
    "auto_release_below": (0, TOTAL_MAX),
    "rates_judged_from": (1, 1_000_000),
}


def _limits(terms: RailTerms) -> Problems:
    for name, (lowest, highest) in _RANGES.items():
        value = getattr(terms, name)
        if type(value) is not int or not lowest <= value <= highest:
            yield name, f"is a whole number from {lowest} to {highest}"
            return
    if not terms.entry_max <= terms.file_max:
        yield "file_max", "is below the ceiling of one entry"


def _rest(terms: RailTerms) -> Problems:
    for name in ("dual_release", "prenotes", "apply_changes", "active"):
        if type(getattr(terms, name)) is not bool:
            yield name, "is true or false"
    if terms.offset == Offset.BALANCED and not _is_routing_number(terms.offset_routing):
        yield "offset_routing", "is no routing number"
    if len(_text(terms.settlement_account)) > 64:
        yield "settlement_account", "has at most 64 characters"
    try:
        name = terms.file_name_pattern.format(
            date="20260102", time="1030", modifier="A", rail="bank"
        )
    except (AttributeError, KeyError, IndexError, ValueError):
        yield "file_name_pattern", f"may name {', '.join(NAME_PARTS)} in braces"
        return
    if not _FILE_NAME.fullmatch(name) or len(name) > 100 or name.startswith("."):
        yield "file_name_pattern", "makes a name of other than letters, digits, . _ -"
    elif not all(f"{{{part}}}" in terms.file_name_pattern for part in ("date", "time", "modifier")):
        yield "file_name_pattern", "needs {date}, {time} and {modifier}: each name is used once"


def _is_party(ten: str) -> bool:
    if _PARTY.fullmatch(ten) is None:
        return False
    return ten[0] != " " or _is_routing_number(ten[1:])


def _is_printable(text: object, width: int) -> bool:
    """Whether it is no blank, for which operators take zeros as well."""
    return (
        0 < len(_text(text).strip(" 0")) <= width
        and len(_text(text)) <= width
        and _PRINTABLE.fullmatch(_text(text)) is not None
    )


def _is_routing_number(text: object) -> bool:
    return routing.validate(_text(text))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
