"""What becomes of conversations: each step with what is told of it, in the caller's transaction.

The caller holds the row lock of the conversation. Whoever locks several of them goes from a return
of funds to the credit that it gives back, and from a credit to what it pays or gives back.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from common.engine.lookups import one_of
from networks import calendar, return_codes
from networks.instant import reviewing, telling
from networks.instant.iso.messages import FIRSTS, StatusReport, StatusRequest
from networks.instant.models import Conversation, Message
from networks.instant.models.events import InstantEventKind
from networks.instant.rails import RailInForce
from networks.instant.states import (
    CONVERSATION_STATES,
    OPEN_REQUEST,
    ConversationKind,
    ConversationStatus,
    Direction,
    MessageStatus,
)

S, E = ConversationStatus, InstantEventKind
RETURN_CODE_LENGTH = 8  # as the rest of Ballast keeps it; a bank's own word may be longer
ADVISED_WITHIN = timedelta(minutes=10)  # networks end a payment within seconds


def locked(conversation_id: str) -> Conversation:
    """Raises Conversation.DoesNotExist."""
    rows = Conversation.objects.select_for_update(no_key=True, of=("self",))
    return rows.get(pk=conversation_id)


def lock_all(conversation_ids: Iterable[str]) -> None:
    """Lock some conversations, in the order of their ids."""
    rows = Conversation.objects.filter(one_of("pk", list(conversation_ids))).order_by("pk")
    list(rows.select_for_update(no_key=True, of=("self",)).values_list("pk", flat=True))


# --- What we said


def end(said: QuerySet[Message], *, now: datetime) -> None:
    """Nobody has to hand over or ask about these messages of ours any more. What a worker that is
    at one of them finds out comes too late."""
    live = said.exclude(status__in=(MessageStatus.ANSWERED, MessageStatus.NOT_TAKEN))
    live.update(
        status=MessageStatus.ANSWERED,
        answered_at=now,
        next_attempt_at=None,
        leased_until=None,
        lease_version=F("lease_version") + 1,
    )


def say_again(about: Message, *, now: datetime) -> None:
    """Say again at once what we had answered to a message."""
    said = about.answers.filter(direction=Direction.OUT, attempts__gt=0)
    said.exclude(status=MessageStatus.NOT_TAKEN).update(
        status=MessageStatus.TO_SEND,
        next_attempt_at=now,
        leased_until=None,
        lease_version=F("lease_version") + 1,
    )


def may_be_there(message: Message) -> bool:
    """Whether a message of ours may have reached the network before its last handover, so that a
    refusal of this one says nothing of it. What was asked about is handed over as if for the first
    time if the network did not have it then."""
    return message.attempts > 1 or questions(message).exists()


def questions(about: Message) -> QuerySet[Message]:
    """What we asked the network about a payment of ours."""
    return Message.objects.filter(related=about, direction=Direction.OUT, name=StatusRequest.kind)


# --- What we asked for, or sent


def accepted(asked: Conversation, *, now: datetime) -> None:
    """The payer's bank has our request for payment."""
    CONVERSATION_STATES.advance(asked, S.ACCEPTED, accepted_at=now)
    telling.tell(asked, E.ACCEPTED, now=now)


def settled(paid: Conversation, *, day: date, now: datetime) -> None:
    """The money of a payment moved for good, on the network's `day`."""
    if paid.status == S.SETTLED:
        is_told = is_final(paid, now=now)
        CONVERSATION_STATES.advance(paid, S.FINAL, ended_at=now, final_due_at=None)
        telling.take_back(paid, () if is_told else (E.FINAL,), now=now)
    else:
        is_told = False
        dated = {"settled_at": now, "settlement_date": day, "ended_at": now}
        CONVERSATION_STATES.advance(paid, S.FINAL, **dated)
        telling.tell(paid, E.SETTLED, now=now, day=day)
    if not is_told:
        telling.tell(paid, E.FINAL, now=now)
    if paid.kind == ConversationKind.GIVE_BACK:
        _given_back(paid, now)


def settled_unposted(rail: RailInForce, paid: Conversation, *, day: date, now: datetime) -> None:
    """The money moved, and the receiving bank posts it by the end of the next banking day, or
    gives it back."""
    until = rail.profile.pending_until(calendar.next_banking_day(day))
    CONVERSATION_STATES.advance(
        paid, S.SETTLED, settled_at=now, settlement_date=day, final_due_at=until
    )
    telling.tell(paid, E.SETTLED, now=now, day=day)
    telling.tell(paid, E.FINAL, now=now, due_at=until)


def is_final(paid: Conversation, *, now: datetime) -> bool:
    """Whether a payment is final, if only because its receiving bank had time to say otherwise."""
    return paid.status == S.FINAL or (paid.final_due_at is not None and paid.final_due_at <= now)


def finish_pending(*, now: datetime) -> int:
    """What a receiving bank has neither posted nor refused in its time is final. The event was
    foretold. Returns how many that were."""
    due = Conversation.objects.filter(status=S.SETTLED, final_due_at__lte=now)
    given = due.filter(kind=ConversationKind.GIVE_BACK).order_by("pk").values_list("pk", flat=True)
    count = sum(_finish_given(pk, now) for pk in list(given))
    paid = due.exclude(kind=ConversationKind.GIVE_BACK)
    return count + paid.update(status=S.FINAL, ended_at=now, final_due_at=None)


@transaction.atomic
def _finish_given(conversation_id: str, now: datetime) -> bool:
    """End a return of funds by us: then its credit is given back, too."""
    given = locked(conversation_id)
    if given.status != S.SETTLED or not is_final(given, now=now):
        return False
    CONVERSATION_STATES.advance(given, S.FINAL, ended_at=now, final_due_at=None)
    _given_back(given, now)
    return True


def rejected(asked: Conversation, *, code: str, reason: str, now: datetime) -> None:
    """No money moved, and none will."""
    CONVERSATION_STATES.advance(asked, S.REJECTED, code=code, reason=reason[:300], ended_at=now)
    telling.tell(asked, E.REJECTED, now=now, code=code, reason=reason)
    if asked.kind == ConversationKind.GIVE_BACK:
        reviewing.put_to_a_person(asked.pk, "give_back_rejected", now=now)


def contradicted(conversation_id: str, *, settled_on: date | None, now: datetime) -> None:
    """The network contradicts what it said before: a person looks at it. Whoever heard that a
    payment was rejected hears that it says now that the money moved."""
    reviewing.put_to_a_person(conversation_id, "contradicted", now=now)
    if settled_on is None:
        return
    paid = locked(conversation_id)
    is_over = paid.kind == ConversationKind.PAYMENT and paid.status == S.REJECTED
    if is_over and not paid.events.filter(kind=E.SETTLED).exists():
        telling.tell(paid, E.SETTLED, now=now, day=settled_on)


def coming_back(paid: Conversation, *, code: str, reason: str, now: datetime) -> None:
    """The receiving bank did not post what had settled: the money has to come back."""
    telling.take_back(paid, (E.FINAL,), now=now)
    CONVERSATION_STATES.advance(
        paid, S.COMING_BACK, code=code, reason=reason[:300], final_due_at=None
    )


def returned(paid: Conversation, *, code: str, day: date, now: datetime) -> None:
    """The money of a payment came back."""
    telling.take_back(paid, (E.FINAL,), now=now)
    code = code or paid.code
    CONVERSATION_STATES.advance(paid, S.RETURNED, code=code, ended_at=now, final_due_at=None)
    is_long = len(code) > RETURN_CODE_LENGTH
    words = f"code {code}" if is_long else ""
    told = code[:RETURN_CODE_LENGTH]
    telling.tell(paid, E.RETURNED, now=now, code=told, reason=words, day=day)


def expired(asked: Conversation, *, now: datetime) -> None:
    """Nobody paid our request in its time."""
    code = return_codes.REQUEST_EXPIRED
    CONVERSATION_STATES.advance(asked, S.EXPIRED, code=code, ended_at=now)
    telling.tell(asked, E.REJECTED, now=now, code=code)


def withdrawn(row: Conversation, *, now: datetime) -> None:
    """It was taken back before anything of it left."""
    code = return_codes.WITHDRAWN
    CONVERSATION_STATES.advance(row, S.WITHDRAWN, code=code, waits_for="", ended_at=now)
    telling.tell(row, E.REJECTED, now=now, code=code)


def not_taken(message: Message, *, code: str, reason: str, now: datetime) -> None:
    """The operator surely did not take a message of ours."""
    if message.conversation_id is None:
        return
    row = locked(message.conversation_id)
    if message.name in FIRSTS and row.status == S.SENT:
        rejected(row, code=code[:16], reason=reason, now=now)
    else:
        reviewing.put_to_a_person(row.pk, "answer_not_taken", now=now)


# --- What comes to us


def answered(rail: RailInForce, answer: Message, *, now: datetime) -> None:
    """Our answer to money that comes in was handed over."""
    if answer.conversation_id is None:
        return
    credit = locked(answer.conversation_id)
    if credit.status == S.ANSWERING and credit.advised_at is not None:
        count(rail, credit, now=now)


def advised(rail: RailInForce, credit: Conversation, *, day: date, now: datetime) -> None:
    """The network says that money to us settled. It counts if our answer may have left: before
    that the network cannot know it."""
    Conversation.objects.filter(pk=credit.pk).update(advised_at=now, settlement_date=day)
    credit.advised_at, credit.settlement_date = now, day
    ours = Message.objects.filter(conversation=credit, name=StatusReport.kind, direction="out")
    if ours.filter(attempts__gt=0).exists():
        end(ours, now=now)
        count(rail, credit, now=now)


def count(rail: RailInForce, credit: Conversation, *, now: datetime) -> None:
    """Money to us is there: it pays a request of ours, gives a payment back, or a person finds out
    whose it is."""
    day = credit.settlement_date or rail.profile.settlement_date(now)
    CONVERSATION_STATES.advance(credit, S.FINAL, settled_at=now, settlement_date=day, ended_at=now)
    if credit.mismatch:
        telling.tell(credit, E.RECEIVED, now=now, day=day, reason=credit.reason)
        reviewing.put_to_a_person(credit.pk, credit.mismatch, now=now)
    elif credit.original_id is not None:
        _count_for(locked(credit.original_id), credit, day, now)


def failed(credit: Conversation, *, code: str, reason: str, now: datetime) -> None:
    """The network did not settle money to us: nothing moved, and a request may still be paid."""
    CONVERSATION_STATES.advance(credit, S.REJECTED, code=code, reason=reason[:300], ended_at=now)
    if credit.original_id is None or credit.mismatch:
        return
    asked = locked(credit.original_id)
    if asked.status == S.PAYING:
        CONVERSATION_STATES.advance(asked, S.ACCEPTED if asked.accepted_at else S.SENT)


def _count_for(original: Conversation, credit: Conversation, day: date, now: datetime) -> None:
    if original.kind == ConversationKind.REQUEST:
        settled(original, day=day, now=now)
    else:
        returned(original, code=credit.code, day=day, now=now)


def _given_back(given: Conversation, now: datetime) -> None:
    """The money of a credit that we gave back is with its sender: so is that of the request that it
    had paid."""
    if given.original_id is None:
        return
    credit = locked(given.original_id)
    CONVERSATION_STATES.advance(credit, S.RETURNED, code=given.code, ended_at=now)
    if credit.original_id is not None and not credit.mismatch:
        asked = locked(credit.original_id)
        day = given.settlement_date
        if asked.status == S.FINAL and day is not None:
            returned(asked, code=given.code, day=day, now=now)


# --- Clocks and people


def expire_due(rail: str, *, now: datetime) -> int:
    """End the requests that nobody paid in their time, of a rail whose news are all applied up to
    `now`. What somebody else has in hand is left to the next sweep. Returns how many that were."""
    due = Conversation.objects.filter(
        rail_id=rail, kind=ConversationKind.REQUEST, status__in=OPEN_REQUEST, expires_at__lte=now
    )
    rows = due.order_by("pk").select_for_update(no_key=True, skip_locked=True, of=("self",))
    found = list(rows[:500])
    for row in found:
        expired(row, now=now)
    return len(found)


def watch_unadvised(*, now: datetime) -> None:
    """Have a person ask what became of money to us that we took, where the network does not say:
    what it pays waits for it, and neither expires nor fails."""
    silent = Conversation.objects.filter(
        status=S.ANSWERING, created_at__lte=now - ADVISED_WITHIN, review_since=None
    )
    for pk in list(silent.values_list("pk", flat=True)):
        reviewing.put_to_a_person(pk, "not_advised", now=now)
