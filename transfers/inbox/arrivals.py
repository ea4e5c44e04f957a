"""Takes in the networks' messages: each is stored first, acknowledged second, and applied later.

No message may be lost or keep others out. So a message is stored for a person to look at if it does
not fit our columns, is about nothing we sent, or has the id of an earlier message but says
something else. A repeat of a message changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

import structlog
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, transaction

from common import clock
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine.lookups import one_of
from networks import registry
from networks.base import EventKind, NetworkEvent, PaymentNetwork
from transfers import handlers
from transfers.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

POLL_BATCH = 500
COLLECTS_WITHIN = 10  # seconds; after that somebody else may collect, too
DOES_NOT_FIT = "does not fit: "
UNMATCHED = "matches nothing we sent"
REUSED_ID = "another message came under this id before"
# The id of such a message is made of so many characters of its own id and of its digest.
_ID_KEPT, _DIGEST_KEPT = 47, 16
RETURN_CODE_LENGTH = 8  # as rows and accounts remember it; a rejection's may be longer
# What is worth nothing without a day.
_DATED = frozenset({EventKind.SETTLED, EventKind.RESCHEDULED})
# Fields that came after digests.
_LATER = ("settlement_date", "trace_number")


@by(WORKER)
def collect_all(*, id_prefix: str, now: datetime) -> int:
    """Store what every network has about ids with this prefix; returns how many messages came.

    A network that fails does not hold up the others; it is asked again at the next sweep.
    """
    return sum(_collect_safely(network, id_prefix, now) for network in registry.active())


def collect_alone(*, id_prefix: str, now: datetime) -> int:
    """`collect_all`, but what another process is collecting at this moment is left to it.

    A network tells its messages to everybody who asks, until they are acknowledged: two that ask
    at once store the same page twice over, to no harm and no use. So the claim may be lost with the
    cache, and one that its process left behind lapses.
    """
    return sum(_claimed(network, id_prefix, now) for network in registry.active())


def collect(*, network: PaymentNetwork, id_prefix: str, now: datetime) -> int:
    """Store the network's new messages, then acknowledge them; returns how many were stored.

    After a crash in between the network sends them again, and they are stored only once. A
    different message under a known id is stored as well, for a person to look at.
    """
    events = network.poll(now=now, limit=POLL_BATCH, id_prefix=id_prefix)
    kept = _store(events, now)
    network.acknowledge(event.id for event in kept)
    return len(kept)


def stored(event: NetworkEvent, now: datetime) -> InboundEvent:
    """The unsaved row of a message. One that has to be changed to fit is put aside for a person."""
    values = asdict(event) | {"event_id": event.id, "reason": event.reason[:300]}
    row = InboundEvent(
        received_at=now, next_attempt_at=now, digest=_digest(event), **_columns(values)
    )
    if misfits := sorted(name for name, value in values.items() if _differs(row, name, value)):
        row.original = _in_full(event)
        _set_aside(row, DOES_NOT_FIT + ", ".join(misfits), now)
    elif handlers.of(event.instruction_id) is None:
        _set_aside(row, UNMATCHED, now)
    return row


def _claimed(network: PaymentNetwork, id_prefix: str, now: datetime) -> int:
    name = f"collecting:{network.name}:{id_prefix}"
    if not cache.add(name, 1, timeout=COLLECTS_WITHIN):
        return 0
    try:
        return _collect_safely(network, id_prefix, now)
    finally:
        cache.delete(name)


def _collect_safely(network: PaymentNetwork, id_prefix: str, now: datetime) -> int:
    try:
        return collect(network=network, id_prefix=id_prefix, now=now)
    except Exception:
        log.exception("network_not_read", network=network.name, id_prefix=id_prefix)
        return 0


def _store(events: Iterable[NetworkEvent], now: datetime) -> list[NetworkEvent]:
    """Store `events` all at once or, if that fails, one by one; returns those that were stored."""
    events = list(events)
    if _insert(events, now):
        return events
    return [event for event in events if _insert([event], now)]


def _insert(events: list[NetworkEvent], now: datetime) -> bool:
    try:
        with transaction.atomic():
            rows = [stored(event, now) for event in events]
            InboundEvent.objects.bulk_create(rows, ignore_conflicts=True)
            others = _others_of_their_ids(events, rows, now)
            InboundEvent.objects.bulk_create(others, ignore_conflicts=True)
    except (DatabaseError, ValidationError, ArithmeticError, TypeError, ValueError):
        log.exception("network_events_not_stored", event_ids=[str(event.id) for event in events])
        return False
    return True


def _others_of_their_ids(
    events: list[NetworkEvent], rows: list[InboundEvent], now: datetime
) -> list[InboundEvent]:
    """Rows for those of `events` that have the id of an earlier message but say something else.

    Such a row gets an id made of the message's id and digest, so a repeat of it is stored only
    once.
    """
    known = {
        (first.network, first.event_id): first
        for first in InboundEvent.objects.filter(one_of("event_id", {row.event_id for row in rows}))
    }
    others = []
    for event, row in zip(events, rows, strict=True):
        if not _says_the_same(known[row.network, row.event_id], row):
            other = stored(event, now)
            other.event_id = f"{row.event_id[:_ID_KEPT]}#{row.digest[:_DIGEST_KEPT]}"
            other.original = _in_full(event)
            _set_aside(other, REUSED_ID, now)
            others.append(other)
    return others


def _says_the_same(first: InboundEvent, row: InboundEvent) -> bool:
    if first.digest:
        return first.digest == row.digest
    # Rows of an older release have no digest: compare as much as the columns hold.
    names = ("instruction_id", "kind", "amount", "currency", "code", "reason", "reference")
    same = all(getattr(first, name) == getattr(row, name) for name in names)
    return same and (first.occurred_at, first.original) == (row.occurred_at, row.original)


def _digest(event: NetworkEvent) -> str:
    """A digest of all that the message says. The order of its fields and the time zone do not
    matter. A message that leaves out what an earlier release did not know has the digest that it
    had then."""
    values = asdict(event)
    for name in _LATER:
        if not values[name]:
            del values[name]
    said = json.dumps(values, default=_plain, sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> str:
    return clock.text_of(value) if isinstance(value, datetime) else str(value)


def _in_full(event: NetworkEvent) -> str:
    return json.dumps(asdict(event), default=str)


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    """The columns of an `InboundEvent` that a message fills, made to fit them."""
    return {
        field.name: _fitting(field, values[field.name])
        for field in InboundEvent._meta.fields
        if field.name in values and field.name != "id"
    }


def _fitting(field: models.Field[Any, Any], value: Any) -> Any:
    """`value` as the column can hold it. An id that is too long is replaced by its digest, so that
    it stays different from others."""
    if isinstance(field, models.BigIntegerField):
        return value if abs(value) <= models.BigIntegerField.MAX_BIGINT else 0
    if not isinstance(field, models.CharField) or field.max_length is None:
        return value
    text = str(value).replace("\0", "")
    if field.name == "event_id" and len(text) > field.max_length:
        return hashlib.sha256(text.encode()).hexdigest()
    return text[: field.max_length]


def _differs(row: InboundEvent, name: str, value: Any) -> bool:
    """Whether the message was changed to fit the column, has a kind that we do not know, or lacks
    what its kind needs."""
    if name == "kind" and value not in set(EventKind):
        return True
    if name == "code" and row.kind != EventKind.REJECTED and len(str(value)) > RETURN_CODE_LENGTH:
        return True
    if name == "settlement_date" and row.kind in _DATED and value is None:
        return True
    return name != "id" and hasattr(row, name) and getattr(row, name) != value


def _set_aside(row: InboundEvent, note: str, now: datetime) -> None:
    row.outcome, row.note = InboundOutcome.REVIEW, note[:200]
    row.decided_at, row.next_attempt_at = now, None
    log.warning("network_event_for_review", network=row.network, note=row.note)
