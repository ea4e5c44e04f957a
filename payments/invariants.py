"""What must hold between payments, the ledger and the outbox: their part of `check_ledger`."""

from __future__ import annotations

from balance.movements import Movements
from payments.models import Payment, PaymentEvent
from payments.services.lifecycle import SOURCE_TYPE
from payments.states import OPEN, PAYMENT_STATES
from webhooks.models import WebhookEvent

MOVEMENTS = Movements(
    name="payment",
    table=Payment._meta.db_table,
    history=PaymentEvent._meta.db_table,
    foreign_key="payment_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    states=PAYMENT_STATES,
    total="locked",
    open_statuses=OPEN,
    # Locked once it has been `created`; then settled, or unlocked, and a return gives it back.
    postings="""CASE
        WHEN movement.locked_at IS NULL THEN ARRAY[]::text[]
        WHEN movement.status IN ('created', 'processing') THEN ARRAY['lock']
        WHEN movement.status = 'completed' THEN ARRAY['lock', 'settlement']
        WHEN movement.status = 'returned' THEN ARRAY['lock', 'settlement', 'credit']
        ELSE ARRAY['lock', 'unlock'] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'processing' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'returned' THEN 'payment.returned'
        WHEN step.to_status = 'failed' AND movement.returned THEN 'payment.returned'
        WHEN step.to_status IN ('failed', 'canceled') THEN 'payment.failed' END""",
)
