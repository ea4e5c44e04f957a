"""How instructions become conversations: judged one by one, stored with their first message, and
then handed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from common import crypto, ids
from common.engine.lookups import one_of
from common.money import format_cents
from networks import routing
from networks.base import (
    Accepted,
    Answer,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkUnavailable,
)
from networks.instant import (
    accounts,
    directory,
    limits,
    messages,
    ordering,
    position,
    rails,
    sending,
)
from networks.instant.directory import Directory
from networks.instant.iso import texts
from networks.instant.messages import Naming
from networks.instant.models import Conversation, Message
from networks.instant.models.conversations import ISO_ID_LENGTH_MAX
from networks.instant.rails import RailInForce
from networks.instant.states import CONVERSATION_STATES, ConversationKind, ConversationStatus
from networks.instant.terms import InvalidTerms

KINDS: Mapping[str, ConversationKind] = {
    Method.RTP_REQUEST: ConversationKind.REQUEST,
    Method.RTP_CREDIT: ConversationKind.PAYMENT,
}
_ACCOUNT_LENGTH_MAX = 34
_RELEASED_TOGETHER = 100
# How long a request is open whose instruction does not say.
OPEN_FOR = timedelta(days=1)


class Refused(Exception):
    """An instruction that we do not send."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def take_many(
    rail: str, instructions: Sequence[Instruction], *, now: datetime
) -> dict[str, Answer]:
    """The answer to each instruction, of different ids, by its id.

    What is new is stored in a transaction of its own, and handed over after its commit. Whoever
    dies in between is followed by the sweep, which does not know whether a message has left.
    """
    by_id = {each.id: each for each in instructions}
    with transaction.atomic(durable=True):
        known = _found(by_id)
        new = [by_id[each] for each in sorted(by_id.keys() - known.keys())]
        taken, refused = _take(rail, new, now)
        if missing := {each.id for each in new} - refused.keys():
            known |= _found(missing)
    if taken:
        sending.hand_over(rail, taken, now=now)
    answers: dict[str, Answer] = {**refused}
    for each, row in known.items():
        answers[each] = _answer(rail, by_id[each], row)
    return answers


def find(rail: str, instruction_id: str) -> Accepted | None:
    """The receipt of an instruction that has a conversation."""
    row = _found([instruction_id]).get(instruction_id)
    return Accepted(reference=row.reference) if row and row.rail == rail else None


def digests(instruction: Instruction) -> tuple[str, ...]:
    """Tell equal terms from other ones without keeping the account number, under each key."""
    account = instruction.account
    terms = (
        instruction.method,
        instruction.currency,
        str(instruction.amount),
        instruction.purpose,
        instruction.tenant_id,
        account.routing_number,
        account.account_number,
        account.account_type,
    )
    return crypto.fingerprints("\0".join(terms), purpose="instant.terms")


def release_waiting(rail: str, *, now: datetime) -> int:
    """Send what waited for money at the network, the oldest first. Returns how many that were."""
    try:
        in_force = rails.current(rail)
    except (rails.NoTerms, InvalidTerms):
        return 0
    if not in_force.terms.active:
        return 0
    waiting = Conversation.objects.filter(rail_id=rail, status=ConversationStatus.WAITING)
    if not waiting.exists():
        return 0
    if (free := position.free(in_force)) is not None:
        # One that is too large keeps nobody else's behind it.
        waiting = waiting.filter(amount__lte=free)
    oldest = waiting.order_by("created_at", "pk").values_list("pk", flat=True)
    return sum(_release(in_force, pk, now) for pk in list(oldest[:_RELEASED_TOGETHER]))


# --- What is known


@dataclass(frozen=True)
class _Known:
    rail: str
    digest: str
    reference: str


def _found(instruction_ids: Iterable[str]) -> dict[str, _Known]:
    rows = Conversation.objects.filter(one_of("instruction_id", list(instruction_ids)))
    return {
        each: _Known(rail, digest, reference)
        for each, rail, digest, reference in rows.values_list(
            "instruction_id", "rail_id", "terms_digest", "reference"
        )
    }


def _answer(rail: str, instruction: Instruction, row: _Known) -> Accepted | InstructionConflict:
    if row.rail != rail or row.digest not in digests(instruction):
        return InstructionConflict(f"{instruction.id} was used before with other terms")
    return Accepted(reference=row.reference)


# --- What is new


def _take(
    rail: str, instructions: Sequence[Instruction], now: datetime
) -> tuple[list[Message], dict[str, InstructionRefused | NetworkUnavailable]]:
    """The first messages of those that are taken, and why the others are not."""
    refused: dict[str, InstructionRefused | NetworkUnavailable] = {}
    if not instructions:
        return [], refused
    try:
        in_force = rails.current(rail)
    except (rails.NoTerms, InvalidTerms):
        in_force = None
    if in_force is None or not in_force.terms.active:
        # Not for good: people mend it, and what waits goes then.
        return [], {
            each.id: NetworkUnavailable(f"{rail} takes nothing now") for each in instructions
        }
    banks = (each.account.routing_number for each in instructions)
    listed = directory.look_up(in_force.profile, list(banks), now=now)
    good = []
    for each in instructions:
        try:
            good.append((each, _judged(in_force, each, listed, now)))
        except Refused as error:
            refused[each.id] = InstructionRefused(code=error.code, reason=error.reason)
    return _stored(in_force, good, now), refused


def _judged(
    rail: RailInForce, instruction: Instruction, listed: Directory, now: datetime
) -> ConversationKind:
    """What kind of conversation it begins. Raises Refused."""
    kind = KINDS.get(instruction.method)
    if kind is None:
        raise Refused("unsupported", f"no {instruction.method}")
    limit = limits.amount_max(rail, kind, now=now)
    if instruction.amount > limit:
        raise Refused("amount_above_limit", f"more than {format_cents(limit)} at once")
    account = instruction.account
    if not routing.validate(account.routing_number):
        raise Refused("routing_number_invalid", "no such routing number")
    number = accounts.as_sent(account.account_number)
    is_plain = number.isascii() and number.isprintable()
    if not (is_plain and 1 <= len(number) <= _ACCOUNT_LENGTH_MAX):
        raise Refused("account_number_invalid", f"not 1 to {_ACCOUNT_LENGTH_MAX} plain characters")
    if not _words(account.holder_name):
        raise Refused("name_unreadable", "the holder's name has no Latin letter or digit")
    if len(instruction.id) > ISO_ID_LENGTH_MAX:
        raise Refused("unsupported", f"an id has at most {ISO_ID_LENGTH_MAX} characters here")
    if unreachable := listed.judge(account.routing_number, kind):
        raise Refused(unreachable.code, unreachable.reason)
    return kind


def _words(text: str) -> str:
    """A text as messages carry it; empty where nothing of it can be carried."""
    try:
        return texts.plain(text)
    except ValueError:
        return ""


def _stored(
    rail: RailInForce, good: Sequence[tuple[Instruction, ConversationKind]], now: datetime
) -> list[Message]:
    """Store conversations with their first messages, which are leased to this process. What
    somebody else stored meanwhile is left to him."""
    if not good:
        return []
    namings = messages.names(rail, len(good), now=now)
    new = [_begun(rail, *each, naming, now) for each, naming in zip(good, namings, strict=True)]
    _keep_back(rail, [row for row, _ in new if row.kind == ConversationKind.PAYMENT])
    Conversation.objects.bulk_create([row for row, _ in new], ignore_conflicts=True)
    stored = set(
        Conversation.objects.filter(one_of("pk", [row.pk for row, _ in new])).values_list(
            "pk", flat=True
        )
    )
    written = [
        _first(rail, row, number, naming, now)
        for (row, number), naming in zip(new, namings, strict=True)
        if row.pk in stored and row.status == ConversationStatus.SENT
    ]
    sending.lease(written, now=now)
    Message.objects.bulk_create(written)
    return written


def _keep_back(rail: RailInForce, payments: Sequence[Conversation]) -> None:
    """Have those unsaved payments wait that are more than the money at the network."""
    if not payments:
        return
    room = position.room(rail)
    for row in payments:
        if waits_for := room.take(row.amount):
            row.status, row.waits_for = ConversationStatus.WAITING, waits_for
            row.attempts, row.sent_at = 0, None


def _begun(
    rail: RailInForce,
    instruction: Instruction,
    kind: ConversationKind,
    naming: Naming,
    now: datetime,
) -> tuple[Conversation, str]:
    """The unsaved row of a new conversation, and the account number of the other side."""
    account, conversation_id = instruction.account, ids.new("inc")
    number = accounts.as_sent(account.account_number)
    is_request = kind == ConversationKind.REQUEST
    row = Conversation(
        id=conversation_id,
        rail_id=rail.name,
        kind=kind,
        instruction_id=instruction.id,
        end_to_end_id=instruction.id,
        tenant_id=instruction.tenant_id,
        amount=instruction.amount,
        routing_number=account.routing_number,
        account_token=crypto.encrypt(number, context=Conversation.context_of(conversation_id)),
        account_fingerprint=accounts.fingerprint(number),
        account_last4=number[-4:],
        name=_words(account.holder_name),
        description=_words(instruction.description),
        expires_at=(instruction.expires_at or now + OPEN_FOR) if is_request else None,
        reference=naming.instruction_id,
        terms_digest=digests(instruction)[0],
        status=ConversationStatus.SENT,
        attempts=1,
        created_at=now,
        sent_at=now,
    )
    return row, number


def _first(
    rail: RailInForce, row: Conversation, account_number: str, naming: Naming, now: datetime
) -> Message:
    """The unsaved first message of a new conversation. Its instruction has the id that the receipt
    quotes."""
    said = ordering.content(rail, row, account_number, naming)
    return messages.outgoing(rail, row, said, naming, now=now)


@transaction.atomic(durable=True)
def _release(rail: RailInForce, conversation_id: str, now: datetime) -> bool:
    """Send a conversation that waits, if it need not wait any more."""
    rows = Conversation.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
    row = rows.filter(pk=conversation_id, status=ConversationStatus.WAITING).first()
    if row is None or position.room(rail).take(row.amount):
        return False
    CONVERSATION_STATES.advance(row, ConversationStatus.SENT, waits_for="", attempts=1, sent_at=now)
    ordering.order(rail, row, now=now, instruction_id=row.reference)
    return True
