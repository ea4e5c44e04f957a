"""Lines of the bank that nothing explains."""

from __future__ import annotations

from datetime import date

from django.db.models import Exists, OuterRef, QuerySet

from reconciliation.models import MatchedLine, SettlementAccount, StatementLine


def lines(account: SettlementAccount, *, up_to: date | None = None) -> QuerySet[StatementLine]:
    """Those of statements whose day is open, the oldest first; or of days up to one. A line of
    nothing moves nothing, so it needs no explanation."""
    matched = MatchedLine.objects.filter(line=OuterRef("pk"), match__isnull=False)
    rows = StatementLine.objects.exclude(amount=0).filter(
        ~Exists(matched), statement__account=account, statement__closed_day=None
    )
    if up_to is not None:
        rows = rows.filter(statement__last_day__lte=up_to)
    return rows.select_related("statement__account").order_by("statement__last_day", "pk")
