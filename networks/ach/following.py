"""When an entry may be tried again (a retry) or taken back (a reversal).

Sources: Nacha Operating Rules, 2.12.4 (reinitiation), 2.8 and 2.9 (reversals).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

from networks.ach.inbound import deadlines
from networks.ach.inbound.returns import ON_ITS_WAY
from networks.ach.models import AchEntry, AchReply, Correction, InRecord
from networks.ach.models.entries import PRENOTE
from networks.ach.models.inbound import RecordKind
from networks.ach.models.replies import ReplyKind
from networks.ach.states import CorrectionStatus, EntryStatus, RecordStatus
from networks.base import Purpose
from networks.schemes import RETRIED, RETRIES_MAX, RETRY_WITHIN

# Before the bank has accepted an entry it may reject its file, and another entry takes its place.
REVERSIBLE = frozenset((EntryStatus.ACCEPTED, EntryStatus.FINAL))
_INSISTS = (RecordKind.CONTESTED, RecordKind.CORRECTED_RETURN)
_NEVER_FOLLOWED = frozenset((Purpose.REVERSAL, Purpose.VERIFICATION, PRENOTE))
# A follower in one of these moved nothing, and never will.
_NEVER_MOVED = (EntryStatus.REJECTED, EntryStatus.WITHDRAWN, EntryStatus.REQUEUED)


class NotAllowed(Exception):
    """The rules forbid it. `code` is stable, the words are for people."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.words = words


def require_retry(
    original: AchEntry, *, account_fingerprints: Collection[str], settles: date
) -> None:
    """Refuse a retry that the rules do not allow. `settles` is the day on which it would settle.
    Its amount and company are those of the original anyway.

    Raises NotAllowed.
    """
    if not original.is_debit or original.purpose in _NEVER_FOLLOWED:
        raise NotAllowed("retry_not_a_debit", "only a debit that drew money is tried again")
    if original.original_id is not None:
        raise NotAllowed("retry_of_a_retry", "a retry follows the first entry, not another retry")
    _require_same_account(original, account_fingerprints)
    if _is_dishonored(original):
        raise NotAllowed("retry_of_dishonored", "our bank dishonors its return: the money is ours")
    former = _followers(original, Purpose.RETRY)
    for row in (original, *former):
        _require_short_of_funds(row)
    if len(former) >= RETRIES_MAX:
        most = RETRIES_MAX
        raise NotAllowed("retried_too_often", f"an entry is tried again {most} times at most")
    settled = _settled(original)
    if settled is None or settles > deadlines.retry_due(settled):
        days = RETRY_WITHIN.days
        raise NotAllowed("retried_too_late", f"the first entry settled {days} days before")


def require_reversal(
    original: AchEntry, *, discovered_at: datetime, settles: date, now: datetime
) -> None:
    """Refuse a reversal that the rules do not allow any more. `settles` is the day on which it
    would settle, `discovered_at` when the error was found.

    Raises NotAllowed.
    """
    if original.purpose in _NEVER_FOLLOWED:
        raise NotAllowed("reversal_not_possible", "such an entry is not reversed")
    require_reversible(original)
    if _followers(original, Purpose.REVERSAL):
        raise NotAllowed("reversed_before", "the entry has a reversal already")
    if not now - deadlines.REVERSAL_AFTER_DISCOVERY <= discovered_at <= now:
        raise NotAllowed("reversal_too_late", "24 hours after the error was found are over")
    if is_too_late_to_reverse(original, settles=settles):
        days = deadlines.REVERSAL_BANKING_DAYS
        raise NotAllowed("reversal_too_late", f"it settled more than {days} banking days before")


def is_too_late_to_reverse(original: AchEntry, *, settles: date) -> bool:
    """Whether a reversal that settles on that day comes too late."""
    settled = _settled(original)
    return settled is None or settles > deadlines.reversal_due(settled)


def require_reversible(original: AchEntry) -> None:
    """Refuse to take back what the bank may not have, or what came back. Raises NotAllowed."""
    if original.status == EntryStatus.SENT:
        raise NotAllowed("reversal_too_early", "the bank has not accepted the entry yet")
    if original.status not in REVERSIBLE:
        raise NotAllowed("reversal_not_possible", f"the entry is {original.status}")


def was_retried(original: AchEntry) -> bool:
    """Whether the same debit went, or will go, once more."""
    return bool(_followers(original, Purpose.RETRY))


def _is_dishonored(original: AchEntry) -> bool:
    """Whether our bank refuses the return that counted, and the other one has not insisted."""
    replies = AchReply.objects.filter(
        record__entry=original, record__status=RecordStatus.APPLIED, kind=ReplyKind.DISHONOR
    )
    contested = InRecord.objects.filter(
        entry=original, kind__in=_INSISTS, status=RecordStatus.APPLIED
    )
    return any(reply.is_live for reply in replies) and not contested.exists()


def _require_short_of_funds(entry: AchEntry) -> None:
    if entry.status in ON_ITS_WAY or entry.status in {EntryStatus.WAITING, EntryStatus.FROZEN}:
        raise NotAllowed("retry_on_its_way", "the entry or a retry of it has not come back")
    if entry.status != EntryStatus.RETURNED or entry.code not in RETRIED:
        codes = " or ".join(sorted(RETRIED))
        raise NotAllowed("retry_reason", f"only what came back with {codes} is tried again")


def _require_same_account(original: AchEntry, account_fingerprints: Collection[str]) -> None:
    """The account of the first entry, as its bank may have corrected it since: with this entry or
    with another one of the same tenant to that account."""
    if original.account_fingerprint in account_fingerprints:
        return
    corrected = Correction.objects.filter(
        created_at__gte=original.created_at,
        entry__account_fingerprint=original.account_fingerprint,
        entry__tenant_id=original.tenant_id,
        status=CorrectionStatus.APPLIED,
    )
    if not corrected.exists():
        raise NotAllowed("retry_differs", "the account is not that of the first entry")


def _followers(original: AchEntry, purpose: Purpose) -> Sequence[AchEntry]:
    """The retries or reversals of an entry that moved money, or may still do so."""
    rows = AchEntry.objects.filter(original=original, purpose=purpose)
    return list(rows.exclude(status__in=_NEVER_MOVED).order_by("pk"))


def _settled(entry: AchEntry) -> date | None:
    return entry.settlement_date or entry.effective_date
