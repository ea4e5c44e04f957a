"""What a file is made of, as the bank reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

from devstack.odfi import layouts
from devstack.odfi.layouts import Totals


@dataclass(frozen=True)
class Reason:
    """Why something was refused: the line, a fixed word or return code, and what was found."""

    line: int
    code: str
    detail: str = ""


@dataclass
class Entry:
    """An entry with its addenda records. The fields are as sent, blanks included."""

    line: int
    code: str
    rdfi: str
    check: str
    account: str
    amount_text: str
    individual_id: str
    name: str
    discretionary: str
    indicator: str
    trace: str
    addenda: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, line: int, record: str) -> Entry:
        return cls(
            line,
            record[1:3],
            record[3:11],
            record[11],
            record[12:29],
            record[29:39],
            record[39:54],
            record[54:76],
            record[76:78],
            record[78],
            record[79:94],
        )

    @property
    def amount(self) -> int:
        """Cents; 0 where the field holds no number, which refuses the batch."""
        return int(self.amount_text) if is_number(self.amount_text) else 0

    @property
    def is_return(self) -> bool:
        """Whether it answers an entry: a return, a dishonored return, a change."""
        return self.code in layouts.RETURNS or any(
            record[1:3] in {"98", "99"} for record in self.addenda
        )

    @property
    def totals(self) -> Totals:
        is_debit = self.code in layouts.DEBITS
        return Totals(
            count=1 + len(self.addenda),
            hash=int(self.rdfi) if is_number(self.rdfi) else 0,
            debit=self.amount if is_debit else 0,
            credit=0 if is_debit else self.amount,
        )


@dataclass
class Batch:
    line: int
    header: dict[str, str]
    reasons: list[Reason] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    last_trace: str = ""
    has_forward: bool = False
    has_returns: bool = False

    def text(self, name: str) -> str:
        return self.header[name].strip()

    @property
    def effective(self) -> date | None:
        return a_day(self.header["effective"])

    def refuse(self, line: int, code: str, detail: str = "") -> None:
        """Note a reason, each kind once for a batch."""
        if all(reason.code != code for reason in self.reasons):
            self.reasons.append(Reason(line, code, detail))


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def is_blank(text: str) -> bool:
    """Blank or all zeros, which the rule book calls blank as well."""
    return not text.strip(" 0")


def a_day(text: str) -> date | None:
    """A date written YYMMDD."""
    if not is_number(text):
        return None
    try:
        return datetime.strptime(text, "%y%m%d").date()  # noqa: DTZ007
    except ValueError:
        return None
