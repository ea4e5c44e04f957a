"""What must hold between funding, the ledger and the outbox: funding's part of `check_ledger`."""

from __future__ import annotations

from balance.movements import Movements
from funding.models import FundingEvent, FundingTransaction
from funding.services.lifecycle import SOURCE_TYPE
from funding.states import FUNDING_STATES, IN_FLIGHT
from webhooks.models import WebhookEvent

MOVEMENTS = Movements(
    name="funding",
    table=FundingTransaction._meta.db_table,
    history=FundingEvent._meta.db_table,
    foreign_key="funding_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    states=FUNDING_STATES,
    total="pending",
    open_statuses=IN_FLIGHT,
    # Completed: one credit. Returned after completion: a credit and a debit. Otherwise: nothing.
    postings="""CASE
        WHEN movement.status = 'completed' THEN ARRAY['credit']
        WHEN movement.status = 'failed' AND movement.completed_at IS NOT NULL
            THEN ARRAY['credit', 'debit']
        ELSE ARRAY[]::text[] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'pending' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'failed' AND movement.returned THEN 'payment.returned'
        WHEN step.to_status = 'failed' THEN 'payment.failed' END""",
)
