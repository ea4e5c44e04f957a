"""What people are told when accounts, statements or days are not as they want them."""

from __future__ import annotations

from collections.abc import Sequence

from common.errors import StaffRefusal


class AccountRefused(StaffRefusal):
    code = "settlement_account_refused"
    title = "The settlement account was not changed"
    advice = "Look at the rail's accounts again: somebody may have been first."


class BookingRefused(StaffRefusal):
    code = "statement_line_not_booked"
    title = "The line was not booked"
    advice = "Look at the line again: somebody may have been first."


class ClearingRefused(StaffRefusal):
    code = "suspense_not_cleared"
    title = "Nothing was cleared from suspense"
    advice = "Look at the line in suspense again: somebody may have been first."


class MatchRefused(StaffRefusal):
    code = "lines_not_matched"
    title = "The lines were not matched"
    advice = "Look at the lines again: somebody may have been first."


class NoteRefused(StaffRefusal):
    code = "transit_note_refused"
    title = "The note was not written"
    advice = "Look at the line again: a statement may show it by now."


class CloseRefused(StaffRefusal):
    """`reasons` are sentences, each with what to do."""

    code = "day_not_closed"
    title = "The day stays open"
    advice = "Do what it says, then close the day again. It also closes by itself."

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = tuple(reasons)
