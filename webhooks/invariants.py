"""What must hold between events, their subscribers, and what became of each: a part of
the audit."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope
from webhooks.dispatcher.claims import ORDER_WAIT
from webhooks.dispatcher.outcomes import SCHEDULE

# Events are deleted with their deliveries after 30 days. Their last day is not checked, because the
# clean-up may be at work.
_LOOKED_AT = """
(%(tenant_ids)s::text[] IS NULL OR event.tenant_id = ANY(%(tenant_ids)s))
    AND event.created_at > CASE WHEN %(full)s THEN ballast_now() - interval '29 days'
        ELSE greatest(%(since)s, ballast_now() - interval '29 days') END
"""

# Each endpoint that subscribed to an event when it happened has a delivery of it.
_UNDELIVERED = f"""
SELECT event.tenant_id, event.id, event.type || ' has no delivery for ' || receiver.id
FROM webhooks_webhookevent AS event CROSS JOIN LATERAL unnest(event.receivers) AS receiver (id)
WHERE {_LOOKED_AT} AND NOT EXISTS (
    SELECT FROM webhooks_webhookdelivery AS delivery
    WHERE delivery.event_id = event.id AND delivery.endpoint_id = receiver.id)
"""  # noqa: S608  # our own text

# Nobody is sent another tenant's event. The database refers a delivery to an endpoint of its own
# tenant only; what event it is of, is checked here.
_STRAY = f"""
SELECT event.tenant_id, delivery.id, 'takes ' || event.id || ' to an endpoint of '
    || delivery.tenant_id
FROM webhooks_webhookevent AS event
JOIN webhooks_webhookdelivery AS delivery ON delivery.event_id = event.id
WHERE {_LOOKED_AT} AND delivery.tenant_id <> event.tenant_id
"""  # noqa: S608  # our own text

# A delivery that is called delivered has a try that a receiver accepted.
_UNPROVEN = f"""
SELECT event.tenant_id, delivery.id, 'is delivered, but no receiver has taken it'
FROM webhooks_webhookevent AS event
JOIN webhooks_webhookdelivery AS delivery ON delivery.event_id = event.id
WHERE {_LOOKED_AT} AND delivery.status = 'delivered' AND NOT EXISTS (
    SELECT FROM webhooks_webhookattempt AS attempt
    WHERE attempt.delivery_id = delivery.id AND attempt.status_code BETWEEN 200 AND 299)
"""  # noqa: S608  # our own text

# A delivery that was given up was tried as often as the schedule says, and never accepted.
_GIVEN_UP = f"""
SELECT event.tenant_id, delivery.id, 'was given up after ' || tried.failures || ' failed tries'
FROM webhooks_webhookevent AS event
JOIN webhooks_webhookdelivery AS delivery ON delivery.event_id = event.id
CROSS JOIN LATERAL (
    SELECT count(*) AS failures FROM webhooks_webhookattempt AS attempt
    WHERE attempt.delivery_id = delivery.id
        AND coalesce(attempt.status_code, 0) NOT BETWEEN 200 AND 299
) AS tried
WHERE {_LOOKED_AT} AND delivery.status = 'failed' AND tried.failures <= %(retries)s
"""  # noqa: S608  # our own text

# A delivery was put aside only if its endpoint was switched off after it was queued, or is removed.
# The audit log says when.
_PUT_ASIDE = f"""
SELECT event.tenant_id, delivery.id, 'is ' || delivery.status || ', but ' || delivery.endpoint_id
    || ' was never ' || CASE delivery.status WHEN 'skipped' THEN 'off' ELSE 'removed' END
FROM webhooks_webhookevent AS event
JOIN webhooks_webhookdelivery AS delivery ON delivery.event_id = event.id
WHERE {_LOOKED_AT} AND delivery.status IN ('skipped', 'canceled') AND NOT EXISTS (
    SELECT FROM tenants_auditevent AS line
    WHERE line.subject_id = delivery.endpoint_id COLLATE "default" AND CASE delivery.status
        WHEN 'canceled' THEN line.action = 'webhook.removed'
        ELSE line.action = 'webhook.disabled' AND NOT EXISTS (
            SELECT FROM tenants_auditevent AS again
            WHERE again.subject_id = delivery.endpoint_id COLLATE "default"
                AND again.action = 'webhook.enabled'
                AND again.created_at > line.created_at
                AND again.created_at < delivery.queued_at - interval '1 minute') END)
"""  # noqa: S608  # our own text

_NEVER_DUE = f"""
SELECT delivery.tenant_id, delivery.id, 'waits until '
    || greatest(delivery.next_attempt_at, delivery.leased_until)
FROM webhooks_webhookendpoint AS endpoint
JOIN webhooks_webhookdelivery AS delivery ON delivery.endpoint_id = endpoint.id
WHERE delivery.status = 'pending'
    AND (delivery.next_attempt_at > ballast_now() + {NEVER}
        OR delivery.leased_until > ballast_now() + {NEVER})
    AND (%(tenant_ids)s::text[] IS NULL OR endpoint.tenant_id = ANY(%(tenant_ids)s))
"""  # noqa: S608  # our own text

# A parked delivery has an earlier one that is not over, which will free it. A row that is due at
# any other time than its parking gave it is not parked: an older release sent it, and did not clear
# the mark.
_PARKED_ALONE = """
SELECT delivery.tenant_id, delivery.id, 'waits for an earlier event, but none is on its way'
FROM webhooks_webhookendpoint AS endpoint
JOIN webhooks_webhookdelivery AS delivery ON delivery.endpoint_id = endpoint.id
WHERE endpoint.status = 'enabled' AND delivery.status = 'pending' AND delivery.is_parked
    AND delivery.leased_until IS NULL AND delivery.next_attempt_at > ballast_now()
    AND delivery.next_attempt_at = delivery.queued_at + %(order_wait)s
    AND (%(tenant_ids)s::text[] IS NULL OR endpoint.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM webhooks_webhookdelivery AS earlier
        WHERE earlier.endpoint_id = delivery.endpoint_id AND earlier.status = 'pending'
            AND earlier.payment_id = delivery.payment_id AND earlier.payment_id <> ''
            AND earlier.sequence < delivery.sequence)
"""

_PAUSED = f"""
SELECT endpoint.tenant_id, endpoint.id, 'is paused until ' || endpoint.paused_until
FROM webhooks_webhookendpoint AS endpoint
WHERE endpoint.paused_until > ballast_now() + {NEVER} AND endpoint.status = 'enabled'
    AND (%(tenant_ids)s::text[] IS NULL OR endpoint.tenant_id = ANY(%(tenant_ids)s))
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check that every event is delivered, or on its way, to each endpoint that wanted it."""
    values = {**scope.values, "retries": len(SCHEDULE), "order_wait": ORDER_WAIT}
    for code, statement in {
        "event_undelivered": _UNDELIVERED,
        "delivery_stray": _STRAY,
        "delivery_unproven": _UNPROVEN,
        "delivery_given_up": _GIVEN_UP,
        "delivery_put_aside": _PUT_ASIDE,
        "delivery_never_due": _NEVER_DUE,
        "delivery_parked_alone": _PARKED_ALONE,
        "endpoint_never_due": _PAUSED,
    }.items():
        yield from audits.found(code, statement, values)
