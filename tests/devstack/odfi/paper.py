"""Files of a customer, written for tests by the rule book's positions, and what comes back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

ROUTING = "124000313"
CUSTOMER = "1987654321"
COMPANY = "1987654321"
RDFI = "021000021"
CREDITS = "1234"

_numbers = itertools.count(1)
_minutes = itertools.count()


@dataclass
class Entry:
    account: str = "000555"
    amount: int = 12_345
    code: str = "27"
    rdfi: str = RDFI
    individual_id: str = "INVOICE 7"
    name: str = "JANE DOE"
    discretionary: str = ""
    addenda: Sequence[str] = ()
    indicator: str = ""
    trace: str = ""

    def __post_init__(self):
        self.trace = self.trace or f"{ROUTING[:8]}{next(_numbers):07}"

    def lines(self) -> list[str]:
        indicator = self.indicator or ("1" if self.addenda else "0")
        head = f"6{self.code}{self.rdfi}{self.account:<17}{self.amount:010}"
        tail = f"{self.individual_id:<15}{self.name:<22}{self.discretionary:<2}{indicator}"
        return [head + tail + self.trace, *self.addenda]


def dishonored(code: str, answer: Answer) -> Entry:
    """A dishonored return, by the layout of the rule book."""
    entry = Entry(code=answer.entry[1:3], account=answer.entry[12:29], amount=answer.amount)
    rdfi = answer.addenda[27:35]
    head = f"799{code}{answer.original_trace}{'':6}{rdfi}{'':3}{answer.trace}"
    tail = f"{answer.settled}{answer.code[1:]}{'':21}"
    entry.addenda = [head + tail + entry.trace]
    return entry


def refused_change(code: str, answer: Answer) -> Entry:
    """A refused notification of change."""
    entry = Entry(code=answer.entry[1:3], account=answer.entry[12:29], amount=0)
    head = f"798{code}{answer.original_trace}{'':6}{answer.addenda[27:35]}{answer.addenda[35:64]}"
    entry.addenda = [f"{head}{answer.code}{answer.trace[-7:]}{'':5}" + entry.trace]
    return entry


def remittance(trace: str, text: str = "THANK YOU", *, kind: str = "05", number: int = 1) -> str:
    return f"7{kind}{text:<80}{number:04}{trace[-7:]}"


@dataclass
class Batch:
    entries: list[Entry] = field(default_factory=lambda: [Entry()])
    sec: str = "CCD"
    service_class: str = "225"
    description: str = "TOPUP"
    effective: str = ""
    company: str = "BALLAST"
    company_id: str = COMPANY

    def lines(self, number: int) -> list[str]:
        head = f"5{self.service_class}{self.company:<16}{'':20}{self.company_id:<10}{self.sec}"
        head += f"{self.description:<10}{'':6}{self.effective:<6}   1{ROUTING[:8]}{number:07}"
        body = [line for entry in self.entries for line in entry.lines()]
        count, hashed, debit, credit = self.totals()
        control = f"8{self.service_class}{count:06}{hashed:010}{debit:012}{credit:012}"
        control += f"{self.company_id:<10}{'':25}{ROUTING[:8]}{number:07}"
        return [head, *body, control]

    def totals(self) -> tuple[int, int, int, int]:
        credit = sum(each.amount for each in self.entries if each.code[1] in CREDITS)
        total = sum(each.amount for each in self.entries)
        count = sum(len(each.lines()) for each in self.entries)
        hashed = sum(int(each.rdfi[:8]) for each in self.entries) % 10**10
        return count, hashed, total - credit, credit


@dataclass
class File:
    batches: list[Batch] = field(default_factory=lambda: [Batch()])
    date: str = "351203"
    time: str = ""
    modifier: str = "A"
    origin: str = CUSTOMER
    destination: str = ROUTING

    def __post_init__(self):
        if not self.time:
            minute = next(_minutes)
            self.time = f"{minute // 60 % 24:02}{minute % 60:02}"

    def lines(self) -> list[str]:
        head = f"101{self.destination:>10}{self.origin:>10}{self.date}{self.time}{self.modifier}"
        head += f"094101{'STANDIN BANK NA':<23}{'BALLAST':<23}{'':8}"
        body = [line for number, each in enumerate(self.batches, 1) for line in each.lines(number)]
        records = len(body) + 2
        blocks = -(-records // 10)
        count, hashed, debit, credit = (
            sum(parts) for parts in zip(*(each.totals() for each in self.batches), strict=True)
        )
        control = f"9{len(self.batches):06}{blocks:06}{count:08}{hashed % 10**10:010}"
        control += f"{debit:012}{credit:012}{'':39}"
        return [head, *body, control, *["9" * 94] * (blocks * 10 - records)]

    def bytes(self) -> bytes:
        return join(self.lines())


def join(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def changed(lines: Sequence[str], number: int, first: int, text: str) -> list[str]:
    """The lines with `text` from position `first` of line `number`, both counted from 1."""
    line = lines[number - 1]
    new = line[: first - 1] + text + line[first - 1 + len(text) :]
    assert new != line
    return [*lines[: number - 1], new, *lines[number:]]


@dataclass
class Answer:
    """An entry of a file from the bank, with its batch header and its addenda record."""

    header: str
    entry: str
    addenda: str

    @property
    def code(self) -> str:
        return self.addenda[3:6]

    @property
    def original_trace(self) -> str:
        return self.addenda[6:21]

    @property
    def amount(self) -> int:
        return int(self.entry[29:39])

    @property
    def trace(self) -> str:
        return self.entry[79:94]

    @property
    def settled(self) -> str:
        return self.header[75:78]


def answers(content: bytes) -> list[Answer]:
    """What a file from the bank says; its totals are added up again on the way."""
    lines = content.decode("ascii").splitlines()
    assert len(lines) % 10 == 0
    assert {len(line) for line in lines} == {94}
    found: list[Answer] = []
    header = ""
    batches = hashed = debit = credit = count = 0
    for line in lines[1:]:
        if line[0] == "5":
            header, batches = line, batches + 1
        elif line[0] == "6":
            found.append(Answer(header, line, ""))
            hashed, count = hashed + int(line[3:11]), count + 1
            if line[2] in CREDITS:
                credit += int(line[29:39])
            else:
                debit += int(line[29:39])
        elif line[0] == "7":
            found[-1].addenda, count = line, count + 1
        elif line[0] == "9":
            break
    blocks = len(lines) // 10
    control = f"9{batches:06}{blocks:06}{count:08}{hashed % 10**10:010}{debit:012}{credit:012}"
    assert line == control.ljust(94)
    return found
