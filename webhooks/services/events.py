"""The outbox: an event and its deliveries are written in the transaction of what caused them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from common import ids
from common.engine import sql
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


def publish_payment(
    *, tenant_id: str, type: str, data: PaymentData, now: datetime, rows: Sequence[Model] = ()
) -> str:
    """Write a payment event into the outbox, in the caller's transaction; returns its id.

    `rows` are new rows of what happened; they are inserted in the same round trip. The sequence
    counts up per payment. The database refuses a second event with the same number, so each
    transition has at most one event.
    """
    if type not in events.PAYMENT_EVENTS:
        raise ValueError(f"{type} is not a payment event")
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
    body = bodies.bytes_of(event_id=event_id, type=type, data=data, now=now)
    if len(body) > BODY_BYTES_MAX:
        raise ValueError(f"{type} of {len(body)} bytes is larger than {BODY_BYTES_MAX}")
    values: dict[str, Any] = {
        "id": event_id,
        "tenant_id": tenant_id,
        "type": type,
        "payment_id": payment_id,
        "sequence": sequence,
        "body": body,
        "now": now,
        "wanted": wanted,
        "delivery_ids": ids.several("dlv", ENDPOINTS_PER_TENANT_MAX),
    }
    ((due,),) = sql.insert(*rows, then=_PUBLISH, values=values)
    if due:
        transaction.on_commit(wake.dispatchers, robust=True)
    return event_id
