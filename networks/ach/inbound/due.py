"""By when a person has to have decided about a record that could not be applied."""

from __future__ import annotations

from datetime import date

from networks.ach.inbound import deadlines
from networks.ach.models.inbound import InRecord, RecordKind
from networks.calendar import add_banking_days, contest_due_date


def of_record(record: InRecord, *, day: date) -> date:
    """The last day on which something can be done about it. `day` is when it came.

    Our bank may dishonor a return for five banking days, and refuse a change for fifteen days. A
    contest can only be looked at: there is nothing after it between the banks.
    """
    settled = record.settlement_day or day
    if record.kind in {RecordKind.RETURN, RecordKind.CORRECTED_RETURN}:
        return deadlines.dishonor_due(settled)
    if record.kind == RecordKind.NOC:
        return deadlines.refusal_due(settled)
    if record.kind == RecordKind.DISHONORED:
        return contest_due_date(settled)
    return add_banking_days(day, deadlines.REVIEW_BANKING_DAYS)
