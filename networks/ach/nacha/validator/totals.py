"""What the entries add up to, and what a control record says: digits at the rule book's places."""

from __future__ import annotations

from collections.abc import Iterator

from networks.ach.nacha.validator.tables import DIGITS

_NAMES = ("entry_addenda_count", "entry_hash", "total_debit", "total_credit")


class Totals:
    """Amounts in cents. The hash counts only the banks of type 6 records."""

    def __init__(self) -> None:
        self.records = self.banks = self.debit = self.credit = 0

    def include(self, other: Totals) -> None:
        self.records += other.records
        self.banks += other.banks
        self.debit += other.debit
        self.credit += other.credit

    def against(self, control: str, *, start: int, count: int) -> Iterator[tuple[str, str]]:
        """Compares with the four numbers of a control record, of which the first one begins at
        `start` and has `count` digits. Yields the name of each that differs or is none."""
        here = (self.records, int(str(self.banks)[-10:]), self.debit, self.credit)
        for name, width, value in zip(_NAMES, (count, 10, 12, 12), here, strict=True):
            part = control[start : start + width]
            start += width
            if not DIGITS(part):
                yield name, "it is no number"
            elif int(part) != value:
                yield name, f"it says {int(part)}, the entries make {value}"
