"""Clears lines from suspense: one person says what a line was, another one approves it.

What it was is posted between suspense and another account. The line of the bank itself was matched
when it was booked, and stays so. Nothing is posted where suspense comes to zero by itself: by two
lines of the bank that undo each other, or by a tenant's adjustment (decision 0216).
"""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from balance import selectors as ledger
from balance.operator.accounts import Step
from common.database.constraints import violated
from common.errors import NotFound
from networks import calendar
from reconciliation import accounts, expecting, matching, own_lines
from reconciliation.errors import ClearingRefused
from reconciliation.models import BookedAs, BookedLine, Clearing, ClearingKind, ExpectedLine, Rule
from reconciliation.own_lines import OwnLine
from reconciliation.reasons import checked
from reconciliation.states import CLEARING_STATES, ClearingStatus

SOURCE_TYPE = "clearing"

_STEPS = {
    ClearingKind.FEE: Step.CLEARED_AS_FEE,
    ClearingKind.INCOME: Step.CLEARED_AS_INCOME,
}


@transaction.atomic
def propose(
    booked: BookedLine,
    kind: ClearingKind,
    *,
    reason: str,
    by: str,
    now: datetime,
    other: BookedLine | None = None,
    adjustment_id: str = "",
    expected_line: int | None = None,
) -> Clearing:
    """Say what a line in suspense was, and what proves it: `other` of an offset, `adjustment_id` of
    an adjustment, `expected_line` of a transfer in the books. Raises ClearingRefused."""
    accounts.lock(_rail_of(booked))
    clearing = Clearing(
        booked=booked,
        kind=kind,
        other=other,
        adjustment_id=adjustment_id,
        expected_line=expected_line,
        reason=checked(reason, ClearingRefused),
        proposed_by=by,
        proposed_at=now,
    )
    _require(clearing)
    try:
        with transaction.atomic():
            clearing.save(force_insert=True)
    except IntegrityError as error:
        if (violated(error) or "").startswith("one_clearing_per_"):
            raise ClearingRefused("It clears another line already, or is proposed to.") from error
        raise
    return clearing


@transaction.atomic
def approve(clearing_id: str, *, by: str, now: datetime) -> Clearing:
    """Post what the line was. Raises ClearingRefused, also if it holds no more."""
    clearing = _undecided(clearing_id, by)
    _require(clearing)
    CLEARING_STATES.advance(clearing, ClearingStatus.APPROVED, decided_by=by, decided_at=now)
    _post(clearing, by, now)
    return clearing


@transaction.atomic
def reject(clearing_id: str, *, refusal: str, by: str, now: datetime) -> Clearing:
    """The line stays in suspense. Raises ClearingRefused."""
    clearing = _undecided(clearing_id, by)
    text = checked(refusal, ClearingRefused)
    CLEARING_STATES.advance(
        clearing, ClearingStatus.REJECTED, decided_by=by, decided_at=now, refusal=text
    )
    return clearing


def in_suspense(booked: BookedLine) -> bool:
    """Whether nobody has cleared the line, or proposed to, by itself or as the other of two."""
    return booked.booked_as == BookedAs.SUSPENSE and not _clearings_of(booked).exists()


def _undecided(clearing_id: str, by: str) -> Clearing:
    """A proposal of somebody else, with the rail's account row-locked until the transaction
    ends."""
    rows = Clearing.objects.select_related("booked__line__statement__account", "other")
    found = rows.filter(pk=clearing_id).first() if "\0" not in clearing_id else None
    if found is None:
        raise ClearingRefused("There is no such proposal.")
    accounts.lock(_rail_of(found.booked))
    found.refresh_from_db(fields=["status"])
    if not found.is_open:
        raise ClearingRefused("Somebody has decided about it already.")
    if found.proposed_by == by:
        raise ClearingRefused("You proposed it, so somebody else decides.")
    return found


def _require(clearing: Clearing) -> None:
    """Raises ClearingRefused if the line cannot have been what the proposal says."""
    booked, kind = clearing.booked, ClearingKind(clearing.kind)
    _require_in_suspense(booked, clearing)
    match kind:
        case ClearingKind.FEE if booked.amount > 0:
            raise ClearingRefused("Money came, so it was no fee. Was it a fee given back: income?")
        case ClearingKind.INCOME if booked.amount < 0:
            raise ClearingRefused("Money left, so it was no income.")
        case ClearingKind.OFFSET:
            _require_other(clearing)
        case ClearingKind.ADJUSTMENT:
            _require_adjustment(clearing)
        case ClearingKind.LEDGER:
            _require_expected(clearing)


def _require_in_suspense(booked: BookedLine, clearing: Clearing) -> None:
    if booked.booked_as != BookedAs.SUSPENSE:
        raise ClearingRefused("The line was booked as a fee, so it is not in suspense.")
    if _clearings_of(booked).exclude(pk=clearing.pk).exists():
        raise ClearingRefused("The line is cleared already, or somebody has proposed to.")


def _require_other(clearing: Clearing) -> None:
    booked, other = clearing.booked, clearing.other
    if other is None or other.pk == booked.pk:
        raise ClearingRefused("Name the other line of the bank, which undoes this one.")
    if _rail_of(other) != _rail_of(booked):
        raise ClearingRefused("The other line is of another account.")
    if other.amount != -booked.amount:
        raise ClearingRefused("The two lines do not come to zero.")
    _require_in_suspense(other, clearing)


def _require_adjustment(clearing: Clearing) -> None:
    try:
        amount = ledger.adjusted_by(adjustment_id=clearing.adjustment_id)
    except NotFound as error:
        raise ClearingRefused("There is no such adjustment of a live tenant.") from error
    if amount != clearing.booked.amount:
        raise ClearingRefused("The adjustment has another amount, or the other direction.")


def _require_expected(clearing: Clearing) -> None:
    row = _transfer_of(clearing)
    if row is None or row.step in expecting.OWN_STEPS:
        raise ClearingRefused("There is no such transfer in the books of this rail.")
    if row.match_id is not None:
        raise ClearingRefused("The bank shows this transfer by another line.")
    if row.amount != clearing.booked.amount:
        raise ClearingRefused("The transfer has another amount, or the other direction.")


def _transfer_of(clearing: Clearing) -> ExpectedLine | None:
    if clearing.expected_line is None:
        return None
    rows = ExpectedLine.objects.filter(rail=_rail_of(clearing.booked))
    return rows.filter(line=clearing.expected_line).first()


def _post(clearing: Clearing, by: str, now: datetime) -> None:
    kind, booked = ClearingKind(clearing.kind), clearing.booked
    if kind == ClearingKind.LEDGER:
        _match(clearing, by, now)
    elif kind in _STEPS:
        line = OwnLine(_STEPS[kind], abs(booked.amount), clearing.pk, None)
        own_lines.write([line], rail=_rail_of(booked), source_type=SOURCE_TYPE, now=now)


def _match(clearing: Clearing, by: str, now: datetime) -> None:
    """Take the line of the transfer off what is expected, by a line of the other sign. Both count
    on the first open day by which the transfer counts."""
    booked = clearing.booked
    rail = _rail_of(booked)
    account, transfer = accounts.lock(rail), _transfer_of(clearing)
    if account is None or transfer is None:
        raise ClearingRefused("There is no such transfer in the books of this rail.")
    day = calendar.banking_day_from(max(expecting.first_open_day(account), transfer.counts_on))
    step = Step.CLEARED_CREDIT if booked.amount > 0 else Step.CLEARED_DEBIT
    line = OwnLine(step, abs(booked.amount), clearing.pk, day)
    (cleared,) = own_lines.write([line], rail=rail, source_type=SOURCE_TYPE, now=now)
    matching.tie(
        [],
        [transfer.line, cleared],
        rail=rail,
        rule=Rule.CLEARED,
        day=day,
        by=by,
        reason=clearing.reason,
        now=now,
    )


def _clearings_of(booked: BookedLine) -> QuerySet[Clearing]:
    """Those that are proposed or approved, and concern the line."""
    live = Clearing.objects.exclude(status=ClearingStatus.REJECTED)
    return live.filter(Q(booked=booked) | Q(other=booked))


def _rail_of(booked: BookedLine) -> str:
    return booked.line.statement.account.rail_id
