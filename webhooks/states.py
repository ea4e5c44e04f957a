"""The machines of endpoints and deliveries."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class EndpointStatus(models.TextChoices):
    ENABLED = "enabled"
    DISABLED = "disabled"
    REMOVED = "removed"


class DeliveryStatus(models.TextChoices):
    """`skipped`: kept while the endpoint was off. `canceled`: the endpoint was removed."""

    PENDING = "pending", "On the way"
    DELIVERED = "delivered"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELED = "canceled"


E = EndpointStatus
D = DeliveryStatus

ENDPOINT_STATES = StateTable(
    initial=frozenset({E.ENABLED}),
    moves={
        E.ENABLED: frozenset({E.DISABLED, E.REMOVED}),
        E.DISABLED: frozenset({E.ENABLED, E.REMOVED}),
        E.REMOVED: frozenset(),
    },
    states=set(E.values),
)

DELIVERY_STATES = StateTable(
    initial=frozenset({D.PENDING, D.SKIPPED}),
    moves={
        D.PENDING: frozenset({D.DELIVERED, D.FAILED, D.SKIPPED, D.CANCELED}),
        D.SKIPPED: frozenset({D.PENDING, D.CANCELED}),
        # A resend or a replay sends again what was sent, or given up.
        D.FAILED: frozenset({D.PENDING}),
        D.DELIVERED: frozenset({D.PENDING}),
        D.CANCELED: frozenset(),
    },
    states=set(D.values),
)
