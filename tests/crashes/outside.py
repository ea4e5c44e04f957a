"""What others were told, held against what is stored: the bank by us and we by it, and receivers.

This holds at every moment, whoever has just died; nothing has to be tidied up first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.crashes.stored import Stored
from tests.receivers import Received

_OF = {
    "funding_fundingtransaction": "('pending', 'in_transit', 'completed')",
    "payments_payment": "('processing', 'completed', 'returned')",
}
# A transfer that is on its way by our books is one that the bank has, with this amount. One that
# failed is not carried out by the bank, unless it said afterwards that the money came back.
_TRANSFERS = """
SELECT transfer.id || ' is ' || transfer.status || ', but the bank has '
    || coalesce(bank.amount::text, 'nothing') || ' of ' || transfer.amount
FROM {table} AS transfer LEFT JOIN sandbox_bank_sandboxinstruction AS bank
    ON bank.external_id = transfer.id AND bank.accepted_at IS NOT NULL
WHERE transfer.status IN {sent} AND bank.amount IS DISTINCT FROM transfer.amount
UNION ALL
SELECT transfer.id || ' is ' || transfer.status || ', but the bank carries it out'
FROM {table} AS transfer JOIN sandbox_bank_sandboxinstruction AS bank
    ON bank.external_id = transfer.id
WHERE transfer.status IN ('failed', 'canceled') AND EXISTS (
    SELECT FROM sandbox_bank_sandboxevent WHERE instruction_id = bank.number AND kind = 'final'
) AND NOT EXISTS (
    SELECT FROM sandbox_bank_sandboxevent
    WHERE instruction_id = bank.number AND kind IN ('returned', 'rejected')
)
"""
# What the bank was told to be stored here is.
_MESSAGES = """
SELECT 'the bank need not say again ' || said.id || ', which is not stored'
FROM sandbox_bank_sandboxevent AS said
WHERE said.acknowledged
    AND NOT EXISTS (SELECT FROM network_inbox_inboundevent WHERE event_id = said.id)
"""
# Each endpoint gets every event that names it among its receivers, once; one that wants all gets
# each about a payment of its tenant. Events of long ago are being forgotten.
_DELIVERIES = """
SELECT event.id || ' has ' || count(delivery.id) || ' deliveries to ' || endpoint.id
FROM webhooks_webhookevent AS event
JOIN webhooks_webhookendpoint AS endpoint ON endpoint.tenant_id = event.tenant_id
    AND (endpoint.id = ANY(event.receivers)
        OR event.payment_id <> '' AND '*' = ANY(endpoint.events))
LEFT JOIN webhooks_webhookdelivery AS delivery
    ON delivery.event_id = event.id AND delivery.endpoint_id = endpoint.id
WHERE event.created_at > now() - interval '1 day'
GROUP BY event.id, endpoint.id HAVING count(delivery.id) <> 1
"""
_LIES = " UNION ALL ".join(
    [_TRANSFERS.format(table=table, sent=sent) for table, sent in _OF.items()]
    + [_MESSAGES, _DELIVERIES]
)
_EVENTS = "SELECT id, body FROM webhooks_webhookevent"
_DELIVERED = """
SELECT delivery.event_id, endpoint.url FROM webhooks_webhookdelivery AS delivery
JOIN webhooks_webhookendpoint AS endpoint ON endpoint.id = delivery.endpoint_id
WHERE delivery.status = 'delivered'
"""


def lies(stored: Stored, received: Sequence[Received]) -> Iterator[str]:
    """What somebody outside knows otherwise than it is stored."""
    yield from (fault for (fault,) in stored.read(_LIES))
    events = {pk: bytes(body) for pk, body in stored.read(_EVENTS)}
    arrived = set()
    for request in received:
        event_id = request.headers["webhook-id"]
        arrived.add((event_id, request.path))
        if events.get(event_id) != request.body:
            yield f"{request.path} received {event_id}, which is not stored so"
    for event_id, url in stored.read(_DELIVERED):
        if (event_id, "/" + url.split("/", 3)[3]) not in arrived:
            yield f"{event_id} is called delivered, but {url} never received it"
