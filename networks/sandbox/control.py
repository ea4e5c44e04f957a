"""Moves one instruction of the sandbox bank by hand, for the sandbox helpers.

`complete`, `fail` and `return_entry` replace whatever the account number would still have done.
What happened stays, and what no bank could do is refused. Each returns the events that happened;
the apps get them by polling, like all others. `network` is the rail that has the instruction.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from networks import return_codes
from networks.base import EventKind, Method, NetworkEvent
from networks.sandbox.arriving import schedule
from networks.sandbox.bank import NAME, network_event
from networks.sandbox.models import WORDS, SandboxEvent, SandboxInstruction
from networks.sandbox.scripts import Step

DEFAULT_RETURN_CODE = "R01"
DEFAULT_REJECTION_CODES = MappingProxyType(
    {
        Method.ACH_DEBIT: "R18",
        Method.ACH_CREDIT: "R18",
        Method.RTP_REQUEST: return_codes.CUSTOMER_REFUSED,
        Method.RTP_CREDIT: "AC04",
    }
)

# The kinds of events that lead to an end, by the last thing that happened (None: it was only taken
# over).
_WAYS = MappingProxyType(
    {
        (None, EventKind.FINAL): (EventKind.ACCEPTED, EventKind.FINAL),
        (EventKind.ACCEPTED, EventKind.FINAL): (EventKind.FINAL,),
        (None, EventKind.REJECTED): (EventKind.REJECTED,),
        (EventKind.ACCEPTED, EventKind.REJECTED): (EventKind.REJECTED,),
        (None, EventKind.RETURNED): (EventKind.ACCEPTED, EventKind.RETURNED),
        (EventKind.ACCEPTED, EventKind.RETURNED): (EventKind.RETURNED,),
        (EventKind.FINAL, EventKind.RETURNED): (EventKind.RETURNED,),
    }
)


class ControlRefused(Exception):
    """No bank could do this to this instruction now."""


class UnknownInstruction(ControlRefused):
    """The bank has not taken over an instruction with this id."""


@transaction.atomic
def advance(instruction_id: str, *, network: str = NAME, now: datetime) -> list[NetworkEvent]:
    """Make the next thing happen now. An instruction that would wait for ever moves on, too, and so
    does a request for payment that would lapse."""
    row = _locked(instruction_id, network)
    lapse = Q(code=return_codes.REQUEST_EXPIRED)
    upcoming = _upcoming(row, now=now).exclude(lapse).order_by("sequence").first()
    if upcoming is None:
        kind = _way(row, EventKind.FINAL, now=now)[0]
        if kind is EventKind.FINAL:
            _upcoming(row, now=now).delete()
        return [_happen(row, Step(kind), now=now)]
    upcoming.due_at = now
    upcoming.save(update_fields=["due_at"])
    return [network_event(upcoming)]


@transaction.atomic
def complete(instruction_id: str, *, network: str = NAME, now: datetime) -> list[NetworkEvent]:
    """Settle it now."""
    return _bring_to(EventKind.FINAL, _locked(instruction_id, network), code="", now=now)


@transaction.atomic
def fail(
    instruction_id: str, *, network: str = NAME, code: str = "", now: datetime
) -> list[NetworkEvent]:
    """Let the network reject it now; possible until it is settled."""
    row = _locked(instruction_id, network)
    code = code or DEFAULT_REJECTION_CODES[Method(row.method)]
    return _bring_to(EventKind.REJECTED, row, code=code, now=now)


@transaction.atomic
def return_entry(
    instruction_id: str,
    *,
    network: str = NAME,
    code: str = DEFAULT_RETURN_CODE,
    now: datetime,
) -> list[NetworkEvent]:
    """Let the account holder's bank send it back now, before or after it settled. ACH only."""
    row = _locked(instruction_id, network)
    if not Method(row.method).is_ach:
        raise ControlRefused("RTP is final: there are no returns")
    if not return_codes.is_ach_return(code):
        raise ControlRefused(f"{code} is not an ACH return code")
    return _bring_to(EventKind.RETURNED, row, code=code, now=now)


def _bring_to(
    end: EventKind, row: SandboxInstruction, *, code: str, now: datetime
) -> list[NetworkEvent]:
    way = _way(row, end, now=now)
    _upcoming(row, now=now).delete()
    return [_happen(row, Step(kind, code if kind is end else ""), now=now) for kind in way]


def _locked(instruction_id: str, network: str) -> SandboxInstruction:
    taken_over = SandboxInstruction.objects.filter(network=network, accepted_at__isnull=False)
    try:
        return taken_over.select_for_update().get(external_id=instruction_id)
    except SandboxInstruction.DoesNotExist:
        raise UnknownInstruction("the bank does not hold this instruction") from None


def _has_happened(now: datetime) -> Q:
    """A filter for events that are due, or that somebody whose clock is ahead of ours has
    acknowledged."""
    return Q(due_at__lte=now) | Q(acknowledged=True)


def _upcoming(row: SandboxInstruction, *, now: datetime) -> QuerySet[SandboxEvent]:
    return row.events.exclude(_has_happened(now))


def _way(row: SandboxInstruction, end: EventKind, *, now: datetime) -> tuple[EventKind, ...]:
    """The events that have to happen to reach `end`. Raises ControlRefused."""
    moves = row.events.filter(_has_happened(now)).exclude(kind=EventKind.CORRECTED)
    last = moves.order_by("due_at", "sequence").last()
    way = _WAYS.get((last.says if last else None, end))
    if way is None:
        said = last.said if last else None
        raise ControlRefused(f"it has been {said}, so it cannot be {WORDS[end]}")
    return way


def _happen(row: SandboxInstruction, step: Step, *, now: datetime) -> NetworkEvent:
    last = row.events.aggregate(last=Max("sequence"))["last"] or 0
    event = schedule(row, step, sequence=last + 1, due_at=now)
    event.save(force_insert=True)
    return network_event(event)
