"""Events, deliveries and endpoints."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, USUAL, Damage

WEBHOOKS = [
    Damage(
        "19 event deleted",
        USUAL,
        "funding_events",
        "DELETE FROM webhooks_webhookdelivery WHERE event_id = '{e}';"
        "DELETE FROM webhooks_webhookevent WHERE id = '{e}'",
    ),
    Damage(
        "20 deliveries of an event deleted",
        USUAL,
        "event_undelivered",
        "DELETE FROM webhooks_webhookdelivery WHERE event_id = '{e}'",
    ),
    Damage(
        "21 amount in an event's body",
        USUAL,
        "funding_event_body",
        "UPDATE webhooks_webhookevent SET body = convert_to(replace(convert_from(body, 'UTF8'),"
        " '\"amount\":', '\"amount\":9'), 'UTF8') WHERE id = '{e}'",
    ),
    Damage(
        "21b body that is no JSON",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET body = '\\xff00' WHERE id = '{ep}'",
    ),
    Damage(
        "21c status in an event's body",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET body = convert_to(replace(convert_from(body, 'UTF8'),"
        " '\"status\":\"created\"', '\"status\":\"completed\"'), 'UTF8') WHERE id = '{ep}'",
    ),
    Damage(
        "21d event's tenant",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET tenant_id = '{t2}' WHERE id = '{ep}'",
    ),
    Damage(
        "21e event about nothing we have",
        USUAL,
        "funding_vanished",
        "UPDATE webhooks_webhookevent SET payment_id = 'ftx_none', sequence = 77 WHERE id = '{e}'",
    ),
    Damage(
        "21f event sent to another tenant's endpoint",
        USUAL,
        "delivery_stray",
        "INSERT INTO webhooks_webhookendpoint SELECT (jsonb_populate_record(endpoint,"
        " jsonb_build_object('id', 'whe_other', 'tenant_id', '{t2}'))).*"
        " FROM webhooks_webhookendpoint AS endpoint WHERE id = '{endpoint}';"
        "INSERT INTO webhooks_webhookdelivery SELECT (jsonb_populate_record(delivery,"
        " jsonb_build_object('id', 'dlv_stray', 'tenant_id', '{t2}', 'endpoint_id', 'whe_other')"
        ")).*"
        " FROM webhooks_webhookdelivery AS delivery WHERE event_id = '{e}'",
    ),
    Damage(
        "42 delivery never due",
        USUAL,
        "delivery_never_due",
        "UPDATE webhooks_webhookdelivery SET next_attempt_at = 'infinity' WHERE event_id = '{e}'",
    ),
    Damage(
        "42b delivery without a next try",
        REFUSED,
        "delivery_pending_iff_due",
        "UPDATE webhooks_webhookdelivery SET next_attempt_at = NULL WHERE event_id = '{e}'",
    ),
    Damage(
        "42c delivery called delivered",
        USUAL,
        "delivery_unproven",
        "UPDATE webhooks_webhookdelivery SET status = 'delivered', next_attempt_at = NULL,"
        " delivered_at = now() WHERE event_id = '{e}'",
    ),
    Damage(
        "42h delivery parked behind nothing",
        USUAL,
        "delivery_parked_alone",
        "UPDATE webhooks_webhookdelivery SET is_parked = true, queued_at = now(),"
        " next_attempt_at = now() + interval '1 hour' WHERE event_id = '{e}'",
    ),
    Damage(
        "42d endpoint paused for ever",
        USUAL,
        "endpoint_never_due",
        "UPDATE webhooks_webhookendpoint SET paused_until = 'infinity' WHERE id = '{endpoint}'",
    ),
    Damage(
        "42e delivery given up that was never tried",
        USUAL,
        "delivery_given_up",
        "UPDATE webhooks_webhookdelivery SET status = 'failed', next_attempt_at = NULL,"
        " failures = 11, attempts = 11 WHERE event_id = '{e}'",
    ),
    Damage(
        "42f delivery skipped while its endpoint was on",
        USUAL,
        "delivery_put_aside",
        "UPDATE webhooks_webhookdelivery SET status = 'skipped', next_attempt_at = NULL"
        " WHERE event_id = '{e}'",
    ),
    Damage(
        "42g delivery canceled while its endpoint was there",
        USUAL,
        "delivery_put_aside",
        "UPDATE webhooks_webhookdelivery SET status = 'canceled', next_attempt_at = NULL"
        " WHERE event_id = '{e}'",
    ),
]
