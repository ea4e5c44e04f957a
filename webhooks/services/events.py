"""The outbox: an event and its deliveries are written in the transaction of what caused them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from common import ids
from common.engine import arrays, many, sql
from webhooks import bodies, events, wake
from webhooks.bodies import Data, Notice, PaymentData
from webhooks.models import ENDPOINTS_PER_TENANT_MAX

BODY_BYTES_MAX = 64 * 1024

# One round trip. A delivery to an endpoint that is off begins as `skipped`, so that it can be
# replayed. Ids come in as an array, because only Python makes them. The rows of what happened are
# inserted before the event.
_PUBLISH = """
receiver AS (
    SELECT id, status, row_number() OVER (ORDER BY id) AS number
    FROM webhooks_webhookendpoint
    WHERE tenant_id = %(tenant_id)s AND status <> 'removed' AND events && %(wanted)s::varchar[]
), event AS (
    INSERT INTO webhooks_webhookevent
        (id, tenant_id, type, payment_id, sequence, body, created_at, receivers)
    VALUES (%(id)s, %(tenant_id)s, %(type)s, %(payment_id)s, %(sequence)s, %(body)s, %(now)s,
        ARRAY(SELECT id FROM receiver))
    RETURNING id, tenant_id, payment_id, sequence, created_at
), delivery AS (
    INSERT INTO webhooks_webhookdelivery
        (id, tenant_id, event_id, endpoint_id, status, payment_id, sequence, next_attempt_at,
         lease_version, attempts, failures, is_manual, last_error, queued_at, created_at)
    SELECT (%(delivery_ids)s::varchar[])[receiver.number], event.tenant_id, event.id, receiver.id,
        CASE receiver.status WHEN 'enabled' THEN 'pending' ELSE 'skipped' END,
        event.payment_id, event.sequence,
        CASE receiver.status WHEN 'enabled' THEN event.created_at END,
        0, 0, 0, false, '', event.created_at, event.created_at
    FROM event CROSS JOIN receiver
    RETURNING status
)
SELECT count(*) FROM delivery WHERE status = 'pending'
"""

# The same for the events of many payments, of any tenants.
_PUBLISH_MANY = """
given AS (
    SELECT * FROM unnest(
        %(ids)s::text::text[], %(tenant_ids)s::text::text[], %(types)s::text::text[],
        %(payment_ids)s::text::text[], %(sequences)s::text::int[], %(bodies)s::text::text[]
    ) AS event(id, tenant_id, type, payment_id, sequence, body)
), receiver AS (
    SELECT given.id AS event_id, endpoint.id, endpoint.status, row_number() OVER () AS number
    FROM given JOIN webhooks_webhookendpoint AS endpoint ON endpoint.tenant_id = given.tenant_id
    WHERE endpoint.status <> 'removed'
        AND endpoint.events && ARRAY[given.type, %(every)s]::varchar[]
), heard AS (
    SELECT event_id, array_agg(id ORDER BY id) AS ids FROM receiver GROUP BY event_id
), event AS (
    INSERT INTO webhooks_webhookevent
        (id, tenant_id, type, payment_id, sequence, body, created_at, receivers)
    SELECT given.id, given.tenant_id, given.type, given.payment_id, given.sequence,
        convert_to(given.body, 'UTF8'), %(now)s, coalesce(heard.ids, '{}')
    FROM given LEFT JOIN heard ON heard.event_id = given.id
    RETURNING id, tenant_id, payment_id, sequence, created_at
), delivery AS (
    INSERT INTO webhooks_webhookdelivery
        (id, tenant_id, event_id, endpoint_id, status, payment_id, sequence, next_attempt_at,
         lease_version, attempts, failures, is_manual, last_error, queued_at, created_at)
    SELECT fresh.id, event.tenant_id, event.id, receiver.id,
        CASE receiver.status WHEN 'enabled' THEN 'pending' ELSE 'skipped' END,
        event.payment_id, event.sequence,
        CASE receiver.status WHEN 'enabled' THEN event.created_at END,
        0, 0, 0, false, '', event.created_at, event.created_at
    FROM event JOIN receiver ON receiver.event_id = event.id
    JOIN unnest(%(delivery_ids)s::text::text[]) WITH ORDINALITY AS fresh(id, number)
        ON fresh.number = receiver.number
    RETURNING status
)
SELECT count(*) FROM delivery WHERE status = 'pending'
"""


@dataclass(frozen=True, kw_only=True)
class PaymentEvent:
    """An event to publish: one of `events.PAYMENT_EVENTS`."""

    tenant_id: str
    type: str
    data: PaymentData


def publish_payments(
    happened: Sequence[PaymentEvent], *, now: datetime, rows: Sequence[Model]
) -> None:
    """`publish_payment` for many payments at once, in one round trip. `rows`: one for each of what
    happened or more, all of one model; nothing may have happened that anybody is told."""
    if not happened:
        many.insert(rows)
        return
    ids_of = ids.several("evt", len(happened))
    due = many.insert(rows, then=_PUBLISH_MANY, values=_arrays_of(happened, ids_of, now))[0][0]
    if due:
        transaction.on_commit(wake.dispatchers, robust=True)


def publish_payment(
    *, tenant_id: str, type: str, data: PaymentData, now: datetime, rows: Sequence[Model] = ()
) -> str:
    """Write a payment event into the outbox, in the caller's transaction; returns its id.

    `rows` are new rows of what happened; they are inserted in the same round trip. The sequence
    counts up per payment. The database refuses a second event with the same number, so each
    transition has at most one event.
    """
    _require_payment_event(type)
    return _publish(
        tenant_id,
        type,
        data,
        now=now,
        payment_id=data.payment_id,
        sequence=data.sequence,
        wanted=[type, events.EVERY_PAYMENT],
        rows=rows,
    )


def publish_notice(*, tenant_id: str, data: Notice, now: datetime) -> str:
    """Write a notice into the outbox, for the endpoints that subscribe to its type;
    returns its id."""
    return _publish(
        tenant_id, data.type, data, now=now, payment_id="", sequence=0, wanted=[data.type]
    )


def _publish(
    tenant_id: str,
    type: str,
    data: Data,
    *,
    now: datetime,
    payment_id: str,
    sequence: int,
    wanted: list[str],
    rows: Sequence[Model] = (),
) -> str:
    event_id = ids.new("evt")
    values: dict[str, Any] = {
        "id": event_id,
        "tenant_id": tenant_id,
        "type": type,
        "payment_id": payment_id,
        "sequence": sequence,
        "body": _body(event_id, type, data, now),
        "now": now,
        "wanted": wanted,
        "delivery_ids": ids.several("dlv", ENDPOINTS_PER_TENANT_MAX),
    }
    ((due,),) = sql.insert(*rows, then=_PUBLISH, values=values)
    if due:
        transaction.on_commit(wake.dispatchers, robust=True)
    return event_id


def _arrays_of(
    happened: Sequence[PaymentEvent], ids_of: Sequence[str], now: datetime
) -> dict[str, Any]:
    """The values of _PUBLISH_MANY."""
    told = []
    for event_id, event in zip(ids_of, happened, strict=True):
        _require_payment_event(event.type)
        told.append(_body(event_id, event.type, event.data, now).decode("ascii"))
    return {
        "ids": arrays.texts(ids_of),
        "tenant_ids": arrays.texts(event.tenant_id for event in happened),
        "types": arrays.texts(event.type for event in happened),
        "payment_ids": arrays.texts(event.data.payment_id for event in happened),
        "sequences": arrays.plain(event.data.sequence for event in happened),
        "bodies": arrays.texts(told),
        "every": events.EVERY_PAYMENT,
        "now": now,
        "delivery_ids": arrays.texts(ids.several("dlv", ENDPOINTS_PER_TENANT_MAX * len(happened))),
    }


def _require_payment_event(type: str) -> None:
    if type not in events.PAYMENT_EVENTS:
        raise ValueError(f"{type} is not a payment event")


def _body(event_id: str, type: str, data: Data, now: datetime) -> bytes:
    """The frozen bytes. Raises ValueError for a body without bound."""
    body = bodies.bytes_of(event_id=event_id, type=type, data=data, now=now)
    if len(body) > BODY_BYTES_MAX:
        raise ValueError(f"{type} of {len(body)} bytes is larger than {BODY_BYTES_MAX}")
    return body
