"""Transfers that a bank settled, and what the operator's books say of them."""

from __future__ import annotations

from itertools import count
from typing import Any

from balance import services as ledger
from balance.models import OperatorLine
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from common import ids
from networks.ach.models import AchBatch, AchEntry, AchRail
from reconciliation.models import ExpectedLine, StatementLine
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import MONDAY, NOW

_traces = count(5_000)


def batch_of(rail: AchRail, *, number: int = 1, **columns: Any) -> AchBatch:
    """A batch that settled, in a file of its own unless one is given."""
    batch: AchBatch = builders.make_batch(rail, number=number, **columns)
    return batch


def settled(tenant, batch, *amounts, day=MONDAY, now=NOW):
    """Money in (above zero) and out (below) that settled on a day; gives the entries."""
    entries = []
    for cents in amounts:
        is_debit = cents > 0
        entry = builders.make_entry(
            batch,
            next(_traces),
            instruction_id=ids.new("ftx" if is_debit else "pay"),
            settled=day,
            amount=abs(cents),
            is_debit=is_debit,
            transaction_code=27 if is_debit else 22,
            purpose="topup" if is_debit else "payment",
        )
        book(tenant, entry, Step.IN_SETTLED if is_debit else Step.OUT_SETTLED, day=day, now=now)
        entries.append(entry)
    return entries


def book(tenant, entry: AchEntry, step: Step, *, day=MONDAY, now=NOW):
    """Have the books say that this happened to an entry's money on a day."""
    source = "funding_transaction" if entry.purpose == "topup" else "payment"
    line = Booking(step, entry.amount, entry.rail_id, source, entry.instruction_id, tenant.pk, day)
    ledger.book([line], now=now)


def expected_of(entry: AchEntry, step: Step | None = None) -> ExpectedLine:
    """What the bank should show of an entry."""
    lines = OperatorLine.objects.filter(source_id=entry.instruction_id)
    first = Step.IN_SETTLED if entry.is_debit else Step.OUT_SETTLED
    return ExpectedLine.objects.get(line=lines.get(step=step or first).pk)


def bank_lines(day=MONDAY, rail=RAIL) -> list[int]:
    """The ids of a statement's lines, in their order."""
    rows = StatementLine.objects.filter(statement__last_day=day, statement__account__rail=rail)
    return list(rows.order_by("position").values_list("pk", flat=True))
