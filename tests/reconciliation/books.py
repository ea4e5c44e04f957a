"""Lines of the operator's books, and matches of them with what a bank shows."""

from __future__ import annotations

from collections import Counter
from itertools import count

from balance import services as ledger
from balance.models import OperatorLine
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.operator.totals import totals
from reconciliation import expecting, matching
from reconciliation.models import ExpectedLine, Match, Rule, StatementLine, TransitNote
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import NOW

_numbers = count(1)


def book(tenant, day, *amounts, now=NOW):
    """Money in (above zero) and out (below) that settled on a day; returns the lines' ids."""
    ids = []
    for amount in amounts:
        step = Step.IN_SETTLED if amount > 0 else Step.OUT_SETTLED
        source = f"ftx_{next(_numbers)}"
        booking = Booking(step, abs(amount), RAIL, "funding_transaction", source, tenant.pk, day)
        ledger.book([booking], now=now)
        ids.append(OperatorLine.objects.get(source_id=source).pk)
    return ids


def balances():
    """What each account of the operator has, over all rails: debits less credits."""
    found: Counter[str] = Counter()
    for total in totals():
        found[total.name] += total.debit - total.credit
    return dict(found)


def match_all(day, *, now=NOW):
    """Match each free line of the day's statement with a free line of the books of its amount."""
    expecting.take(RAIL, now=now)
    free = StatementLine.objects.filter(statement__last_day=day, matched=None)
    for line in free.order_by("pk"):
        expected = ExpectedLine.objects.filter(amount=line.amount, match=None).first()
        if expected:
            matching.tie([line.pk], [expected.line], rail=RAIL, rule=Rule.FILE, day=day, now=now)
    return list(Match.objects.filter(day=day))


def note(line, *, until):
    """Write why a line is long in transit."""
    TransitNote.objects.create(
        line=line, reason="The bank looks for it", until=until, written_by="ann", written_at=NOW
    )
