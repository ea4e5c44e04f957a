"""Takes an entry back that was wrong: one person proposes it, another one approves, and the bank of
the account holder gets the opposite entry.

A debit is undone in our books when its reversal is accepted, because the money leaves then; a
credit when its reversal is final, because that money may not come back before (decision 0147).
"""

from __future__ import annotations

from datetime import date, datetime

import structlog
from django.db import transaction
from django.db.models import QuerySet

from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.errors import StaffRefusal
from networks import return_codes
from networks.ach import following, rails, schedule, taking, telling
from networks.ach.following import NotAllowed
from networks.ach.inbound import returns
from networks.ach.models import AchEntry, AchEvent, AchReversal
from networks.ach.models.events import AchEventKind
from networks.ach.models.reversals import ReversalReason
from networks.ach.states import REVERSAL_STATES, EntryStatus, ReversalStatus
from networks.base import (
    Accepted,
    AccountType,
    BankAccount,
    EventKind,
    HolderType,
    Instruction,
    InstructionRefused,
    Method,
    NetworkUnavailable,
    Purpose,
)

log = structlog.get_logger(__name__)

REVERSED = return_codes.TAKEN_BACK
_REASON = "taken back by us: the entry was wrong"
_TOO_LATE = "too_late"
_CHECKING_CODES = range(20, 30)
_OVER = (EntryStatus.REJECTED, EntryStatus.RETURNED, EntryStatus.WITHDRAWN)


class ReversalRefused(StaffRefusal):
    code = "ach_reversal_refused"
    title = "Not possible"
    advice = "Ask our bank to request a return (R06) where a reversal is not allowed."


def propose(
    *,
    entry_id: int,
    reason: ReversalReason,
    discovered_at: datetime,
    staff: str,
    note: str,
    now: datetime,
) -> AchReversal:
    """Propose to take an entry back. Raises ReversalRefused."""
    with transaction.atomic():
        entry = returns.lock([entry_id]).get(entry_id)
        if entry is None or not note.strip():
            raise ReversalRefused("Name an entry, and say what was wrong with it.")
        _require(entry, discovered_at, now)
        open_ones = AchReversal.objects.filter(entry=entry).exclude(
            status__in=(ReversalStatus.REJECTED, ReversalStatus.FAILED)
        )
        if open_ones.exists():
            raise ReversalRefused("There is a reversal of this entry already.")
        return AchReversal.objects.create(
            entry=entry,
            reason=reason,
            note=note.strip(),
            discovered_at=discovered_at,
            proposed_by=staff,
            proposed_at=now,
        )


def reject(*, reversal_id: str, staff: str, now: datetime) -> AchReversal:
    """Leave the entry as it is. Raises ReversalRefused."""
    with transaction.atomic():
        reversal = _proposed(reversal_id, staff)
        REVERSAL_STATES.advance(reversal, ReversalStatus.REJECTED, decided_by=staff, decided_at=now)
    return reversal


def approve(*, reversal_id: str, staff: str, now: datetime) -> AchReversal:
    """Agree to it, so that `send` or `run` may send the opposite entry. The rules are asked once
    more. Raises ReversalRefused."""
    with transaction.atomic():
        reversal = _proposed(reversal_id, staff)
        entry = returns.lock([reversal.entry_id])[reversal.entry_id]
        _require(entry, reversal.discovered_at, now)
        REVERSAL_STATES.advance(reversal, ReversalStatus.APPROVED, decided_by=staff, decided_at=now)
    return reversal


@by(WORKER)
def run(*, now: datetime) -> int:
    """Send approved reversals that have no entry yet, and turn back the books of the originals
    whose reversals came far enough; returns how many of these ended. One that breaks holds up no
    other one."""
    approved = AchReversal.objects.filter(status=ReversalStatus.APPROVED).order_by("pk")
    return sweeps.each(
        list(approved), lambda each: _go_on(each, now), failure="ach_reversal_broken"
    )


def send(reversal: AchReversal, *, now: datetime) -> None:
    """Hand the opposite entry over, once however often it is called. One that is refused has
    failed; while the rail takes nothing it waits. Raises common.crypto.Undecryptable."""
    instruction = _instruction(reversal)
    rail = reversal.entry.rail_id
    answer = taking.take_many(rail, [instruction], now=now)[instruction.id]
    if isinstance(answer, Accepted | NetworkUnavailable):
        return
    _fail(reversal, answer.reason if isinstance(answer, InstructionRefused) else str(answer))


def _go_on(reversal: AchReversal, now: datetime) -> bool:
    """Whether it ended by what became of its entry."""
    sent = _sent(reversal.pk).first()
    if sent is not None:
        if sent.status == EntryStatus.WAITING and _is_late(reversal.entry, now):
            _withdraw_late(sent, now)
        return _settle(reversal.pk, sent.pk, now)
    _send_in_time(reversal, now)
    return False


def _is_late(original: AchEntry, now: datetime) -> bool:
    """Whether the file that is made now, or next, is too late to take `original` back."""
    terms = rails.current(original.rail_id).parsed
    window = schedule.open_window(terms, now) or schedule.next_window(terms, now)
    return following.is_too_late_to_reverse(
        original, settles=schedule.effective_date(window, same_day=False)
    )


def _withdraw_late(sent: AchEntry, now: datetime) -> None:
    """It waited while no file left, or its file was not taken."""
    with transaction.atomic():
        telling.ended(
            {sent.pk: _TOO_LATE},
            status=EntryStatus.WITHDRAWN,
            kind=EventKind.REJECTED,
            sources=[EntryStatus.WAITING],
            now=now,
        )
    log.error("ach_reversal_not_sent", reversal_id=sent.instruction_id)


def _sent(reversal_id: str) -> QuerySet[AchEntry]:
    """The opposite entry, once there is one."""
    rows = AchEntry.objects.filter(instruction_id=reversal_id, purpose=Purpose.REVERSAL)
    return rows.exclude(status=EntryStatus.REQUEUED)


def _send_in_time(reversal: AchReversal, now: datetime) -> None:
    """Send what was agreed to, unless it is too late by now."""
    try:
        _require(reversal.entry, reversal.discovered_at, now)
    except ReversalRefused as refusal:
        _fail(reversal, refusal.detail)
    else:
        send(reversal, now=now)


@transaction.atomic
def _fail(reversal: AchReversal, words: str) -> None:
    """It is not sent, unless somebody else has sent it meanwhile: who does that holds the
    original."""
    rows = AchReversal.objects.select_for_update(no_key=True)
    open_one = rows.filter(pk=reversal.pk, status=ReversalStatus.APPROVED).first()
    returns.lock([reversal.entry_id])
    if open_one is None or _sent(reversal.pk).exists():
        return
    REVERSAL_STATES.advance(open_one, ReversalStatus.FAILED, refusal=words[:300])
    log.error("ach_reversal_not_sent", reversal_id=reversal.pk)


def _require(entry: AchEntry, discovered_at: datetime, now: datetime) -> None:
    terms = rails.current(entry.rail_id).parsed
    settles = schedule.effective_date(schedule.next_window(terms, now), same_day=False)
    try:
        following.require_reversal(entry, discovered_at=discovered_at, settles=settles, now=now)
    except NotAllowed as refusal:
        raise ReversalRefused(refusal.words) from refusal


def _proposed(reversal_id: str, staff: str) -> AchReversal:
    rows = AchReversal.objects.select_for_update(no_key=True, of=("self",)).select_related("entry")
    reversal = rows.filter(pk=reversal_id).first()
    if reversal is None or reversal.status != ReversalStatus.PROPOSED:
        raise ReversalRefused("The reversal does not wait for a decision.")
    if reversal.proposed_by == staff:
        raise ReversalRefused("Another person than the one who proposed it decides.")
    return reversal


def _instruction(reversal: AchReversal) -> Instruction:
    entry = reversal.entry
    is_business = entry.sec == "CCD"
    is_checking = entry.transaction_code in _CHECKING_CODES
    return Instruction(
        id=reversal.pk,
        method=Method.ACH_CREDIT if entry.is_debit else Method.ACH_DEBIT,
        amount=entry.amount,
        account=BankAccount(
            routing_number=entry.routing_number,
            account_number=entry.account_number,
            holder_name=entry.name,
            holder_type=HolderType.BUSINESS if is_business else HolderType.INDIVIDUAL,
            account_type=AccountType.CHECKING if is_checking else AccountType.SAVINGS,
        ),
        purpose=Purpose.REVERSAL,
        tenant_id=entry.tenant_id,
        individual_id=entry.individual_id,
        original_id=entry.instruction_id,
    )


@transaction.atomic
def _settle(reversal_id: str, sent_id: int, now: datetime) -> bool:
    """Whether the reversal ended now."""
    rows = AchReversal.objects.select_for_update(no_key=True).filter(
        pk=reversal_id, status=ReversalStatus.APPROVED
    )
    reversal = rows.first()
    if reversal is None:
        return False
    # Both locked: what comes back meanwhile waits for what is decided here.
    entries = returns.lock([sent_id, reversal.entry_id])
    sent, original = entries[sent_id], entries[reversal.entry_id]
    if sent.status in _OVER:
        REVERSAL_STATES.advance(reversal, ReversalStatus.FAILED, refusal=_why_over(sent))
        return True
    has_moved = EntryStatus.FINAL if sent.is_debit else EntryStatus.ACCEPTED
    if sent.status not in {has_moved, EntryStatus.FINAL}:
        return False
    if original.status in returns.ON_ITS_WAY:
        _turn_back(original, sent.settlement_date, now)
    REVERSAL_STATES.advance(reversal, ReversalStatus.DONE, effective_at=now)
    return True


def _why_over(sent: AchEntry) -> str:
    if sent.code == _TOO_LATE:
        return "not sent: the last day for it passed while it waited"
    if sent.status == EntryStatus.WITHDRAWN:
        return "not sent: the original came back by itself"
    return f"{sent.status} {sent.code}".strip()


def _turn_back(original: AchEntry, day: date | None, now: datetime) -> None:
    """The original is returned in our books; by us, so that no record of a bank says it. Its money
    goes the other way on `day`, on which the reversal settles."""
    AchEntry.objects.filter(pk=original.pk).update(
        status=EntryStatus.RETURNED, code=REVERSED, ended_at=now
    )
    returns.void_settlement([original.pk], now=now)
    AchEvent.about(
        original,
        AchEventKind.RETURNED,
        code=REVERSED,
        reason=_REASON,
        settlement_date=day,
        now=now,
    ).save(force_insert=True)
