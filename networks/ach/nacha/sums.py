"""What entries add up to, for the reader, which compares, and for the writer, which fills in."""

from __future__ import annotations

from collections.abc import Iterator

from networks.ach.nacha import codes
from networks.ach.nacha.records import BatchControl, FileControl

HASH_MODULUS = 10**10  # the rightmost ten digits


class Sums:
    """Of a batch or a file. Amounts in cents; `count` has entries and their addenda."""

    __slots__ = ("count", "credit", "debit", "hash")

    def __init__(self) -> None:
        self.count = self.hash = self.debit = self.credit = 0

    def add(self, other: Sums) -> None:
        self.count += other.count
        self.hash += other.hash
        self.debit += other.debit
        self.credit += other.credit

    def add_entry(self, transaction_code: int, receiving_dfi: str, amount: int) -> None:
        """An entry without its addenda. One of an unknown transaction code adds no amount."""
        self.count += 1
        self.hash += int(receiving_dfi)
        if transaction_code in codes.DEBITS:
            self.debit += amount
        elif transaction_code in codes.CREDITS:
            self.credit += amount

    def differences(self, control: BatchControl | FileControl) -> Iterator[tuple[str, str]]:
        """The sums that `control` has otherwise, each with a sentence about it."""
        for name, here, there in (
            ("entry_addenda_count", self.count, control.entry_addenda_count),
            ("entry_hash", self.hash % HASH_MODULUS, control.entry_hash),
            ("total_debit", self.debit, control.total_debit_entry_dollar_amount),
            ("total_credit", self.credit, control.total_credit_entry_dollar_amount),
        ):
            if here != there:
                words = name.replace("_", " ")
                yield name, f"the {words} says {there}, the entries make {here}"
