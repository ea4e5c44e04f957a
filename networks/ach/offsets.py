"""The opposite sum to our own account, which each file of a balanced rail carries."""

from __future__ import annotations

from django.db.models import Max, Sum

from networks.ach.models import AchBatch, OutFile, RailVersion
from networks.ach.nacha.records import BatchHeader
from networks.ach.nacha.sums import HASH_MODULUS
from networks.ach.terms import ENTRY_AMOUNT_MAX, Offset, RailTerms

DESCRIPTION = "OFFSET"


def are_needed(terms: RailTerms) -> bool:
    """Whether the bank asks for them."""
    return terms.offset == Offset.BALANCED


def is_one(header: BatchHeader) -> bool:
    """Whether a batch of a file of ours is our own account's side."""
    return header.company_entry_description.strip() == DESCRIPTION


def insert(version: RailVersion, file: OutFile, trace: int) -> int:
    """Put our own account's side of each day into a balanced file: a batch, which has no entries of
    ours. Their trace numbers go on with `trace`; returns how many they need."""
    terms = version.parsed
    if not are_needed(terms):
        return 0
    days = file.batches.values("same_day", "effective_date").annotate(
        debit=Sum("credit_total"), credit=Sum("debit_total"), number=Max("originator_id")
    )
    bank, used = int(terms.offset_routing[:8]), 0
    days = days.exclude(debit=0, credit=0)  # prenotes alone move nothing
    last = file.batches.aggregate(last=Max("batch_number"))["last"]
    for place, day in enumerate(days.order_by("effective_date"), start=1):
        count = len(amounts(day["debit"])) + len(amounts(day["credit"]))
        AchBatch.objects.create(
            file=file,
            batch_number=last + place,
            originator_id=day["number"],
            is_offset=True,
            sec="CCD",
            service_class=_service_class(day["debit"], day["credit"]),
            company_name=terms.company_name,
            company_id=terms.company_id,
            description=DESCRIPTION,
            same_day=day["same_day"],
            effective_date=day["effective_date"],
            entry_count=count,
            entry_hash=bank * count % HASH_MODULUS,
            debit_total=day["debit"],
            credit_total=day["credit"],
            first_trace=f"{terms.odfi}{trace + used:07d}",
        )
        used += count
    return used


def amounts(total: int) -> list[int]:
    """A sum in the fewest entries, whose amounts have ten digits."""
    whole, rest = divmod(total, ENTRY_AMOUNT_MAX)
    return [ENTRY_AMOUNT_MAX] * whole + ([rest] if rest else [])


def _service_class(debit: int, credit: int) -> int:
    if debit and credit:
        return 200
    return 225 if debit else 220
