"""A bank that is plainly right: it posts what entries come to, in its manner, and remembers what
each of its lines is of.

A `Group` is what the bank posts together: some lines of the books, and the lines of statements that
show them. Lines of statements that look the same cannot be told apart, by nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from typing import Any, NamedTuple

from balance.models import OperatorLine
from balance.operator.accounts import Step
from networks.ach import references
from networks.ach.models import AchBatch, AchEntry, AchRail, InRecord
from reconciliation.models import StatementLine
from tests.networks.ach.inbound import builders
from tests.reconciliation import statements
from tests.reconciliation.banking import Posted, content_of
from tests.reconciliation.statements import MONDAY, OPENING, TUESDAY
from tests.reconciliation.transfers import batch_of, book, settled

DAYS = (MONDAY, TUESDAY)
# How a bank shows a file: what it adds up, and what it names.
NAMED = ("batch", "batch gross", "file", "file gross", "trace", "reference")
SILENT = "silent"  # in the manner that the bank has for what it names nothing of
MANNERS = ("batch", "file gross", "file", "gross", "day")
RETURNS = ("trace", "gross", "day")
# What goes wrong with what a bank shows of a file.
FAULTS = ("", "lost", "late", "in two parts", "split over days", "twice")
_rails = count(1)


class Look(NamedTuple):
    """All that a statement says of a line."""

    day: date
    amount: int
    name: str
    kind: str


@dataclass
class Group:
    """Some lines of the books, by their ids, and what the bank shows of them. `is_certain`: whoever
    reads the statement can tell what it is."""

    lines: frozenset[int]
    looks: Counter[Look] = field(default_factory=Counter)
    is_certain: bool = False


class Plan(NamedTuple):
    """A file: the amounts of the entries of each batch and its day, and how the bank shows it."""

    batches: Sequence[tuple[int, Sequence[int]]]
    style: str
    fault: str
    returned: int  # of its entries, the first ones of Monday


class Entry(NamedTuple):
    line: int
    amount: int
    day: date
    batch: AchBatch
    row: AchEntry


class ModelBank:
    """One rail, whose bank lives through Monday and Tuesday."""

    def __init__(self, tenant, *, manner: str, returns: str) -> None:
        self.rail: AchRail = builders.make_rail(f"model{next(_rails)}")
        self.account = statements.in_force(rail=self.rail.pk)
        self.groups: list[Group] = []
        self.own: Counter[Look] = Counter()  # fees, and money that nobody knows
        self._tenant, self._manner, self._returns = tenant, manner, returns
        self._silent: list[Entry] = []
        self._back: list[tuple[Entry, str]] = []

    def send(self, plan: Plan) -> None:
        """Have a file settle."""
        entries = list(self._entries(plan))
        if plan.style == SILENT:
            self._silent += entries
        else:
            for together, name in _parts(entries, plan.style):
                self._show(together, name, "settlement", plan.fault)
        for entry in [each for each in entries if each.day == MONDAY][: plan.returned]:
            self._send_back(entry)

    def charge(self, amount: int, day: date) -> None:
        self.own[Look(day, -amount, "", "fee")] += 1

    def receive(self, amount: int, day: date) -> None:
        """Money that nobody asked for."""
        self.own[Look(day, amount, "THEIRS", "credit")] += 1

    def state(self) -> None:
        """Send the statements, once all is sent."""
        for together, _ in _parts(self._silent, self._manner):
            self._show(together, "", "settlement")
        self._show_returns()
        opening = OPENING
        for day in DAYS:
            looks = [look for look in self.posted().elements() if look.day == day]
            said = [Posted(look.amount, look.name, look.kind) for look in looks]
            content = content_of(*said, day=day, opening=opening)
            file = statements.take(content, rail=self.rail.pk, name=f"{day}.txt")
            assert file.status == "applied", file.faults
            opening += sum(look.amount for look in looks)

    def posted(self) -> Counter[Look]:
        return sum((group.looks for group in self.groups), Counter(self.own))

    def look_of(self, line: StatementLine) -> Look:
        """As the statement says it."""
        name = line.references.get("customer", "")
        kind = {"batch": "settlement"}.get(line.kind, line.kind)
        return Look(line.statement.last_day, line.amount, name, kind)

    def _entries(self, plan: Plan) -> Iterable[Entry]:
        file = None
        for number, (which, amounts) in enumerate(plan.batches, start=1):
            more: dict[str, Any] = {"file": file} if file else {}
            batch = batch_of(self.rail, number=number, **more)
            file = batch.file
            day = DAYS[which]
            rows = settled(self._tenant, batch, *amounts, day=day)
            for row, amount in zip(rows, amounts, strict=True):
                yield Entry(_line_of(row), amount, day, batch, row)

    def _send_back(self, entry: Entry) -> None:
        service_class = "225" if entry.row.is_debit else "220"
        batch = builders.answer_batch(*builders.returned(entry.row), service_class=service_class)
        builders.take(builders.answer_file(batch), rail=self.rail.pk)
        step = Step.IN_RETURNED if entry.amount > 0 else Step.OUT_RETURNED
        book(self._tenant, entry.row, step, day=TUESDAY)
        back = entry._replace(line=_line_of(entry.row, step), amount=-entry.amount, day=TUESDAY)
        self._back.append((back, InRecord.objects.get(entry=entry.row).rdfi_trace))

    def _show_returns(self) -> None:
        if self._returns == "trace":
            for entry, trace in self._back:
                self._show([entry], trace, "return", is_certain=True)
            return
        together: dict[object, list[Entry]] = defaultdict(list)
        for entry, _ in self._back:
            together[self._returns == "gross" and entry.amount > 0].append(entry)
        for entries in together.values():
            self._show(entries, "", "return")

    def _show(
        self,
        entries: Sequence[Entry],
        name: str,
        kind: str,
        fault: str = "",
        *,
        is_certain: bool | None = None,
    ) -> None:
        cents, day = sum(entry.amount for entry in entries), entries[0].day
        group = Group(frozenset(entry.line for entry in entries))
        self.groups.append(group)
        if cents == 0 or fault == "lost":
            return
        shown = [Look(day, cents, name, kind)]
        match fault:
            case "late":
                shown = [Look(TUESDAY, cents, name, kind)]
            case "twice":
                shown *= 2
            case "in two parts" | "split over days":
                last = TUESDAY if fault == "split over days" else day
                shown = [Look(day, 1, name, kind), Look(last, cents - 1, name, kind)]
        group.looks = Counter(shown)
        is_known = bool(name) if is_certain is None else is_certain
        group.is_certain = is_known and fault in {"", "late"}


def _parts(entries: Sequence[Entry], style: str) -> Iterable[tuple[list[Entry], str]]:
    """What a bank adds up, each with what it names."""
    found: dict[tuple[object, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.day, *_about(entry, style)].append(entry)
    for together in found.values():
        yield together, _name(together[0], style)


def _about(entry: Entry, style: str) -> tuple[object, ...]:
    direction = entry.amount > 0 if style.endswith("gross") else None
    match style.removesuffix(" gross"):
        case "batch":
            return entry.batch.pk, direction
        case "file":
            return entry.batch.file_id, direction
        case "trace" | "reference":
            return (entry.line,)
    return (direction,)


def _name(entry: Entry, style: str) -> str:
    match style.removesuffix(" gross"):
        case "batch":
            return references.of_batch(entry.batch)
        case "file":
            return references.of_file(entry.batch.file)
        case "trace":
            return entry.row.trace_number
        case "reference":
            name: str = entry.row.reference
            return name
    return ""


def _line_of(row: AchEntry, step: str = "") -> int:
    lines = OperatorLine.objects.filter(source_id=row.instruction_id)
    found: int = (lines.filter(step=step) if step else lines).get().pk
    return found
