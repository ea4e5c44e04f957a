"""Everything that hangs on one funding or payment, found by its id: ledger lines, webhook events
and their deliveries, the API request that made it, the lines of the audit log.

Each of these is one statement that an index answers (decision 0198), however many rows there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import request_log
from api.models import ApiRequest
from balance import selectors as ledger
from dashboard.audit_log.lines import AuditLine, audit_line
from dashboard.developers.webhooks.lines import (
    DeliveryLine,
    EventLine,
    delivery_line,
    event_line,
)
from dashboard.shell import stops
from dashboard.statement.lines import TransactionLine, transaction_line
from tenants import selectors as tenants
from tenants.models import AuditEvent
from webhooks import selectors as webhooks
from webhooks.models import WebhookDelivery, WebhookEvent
from webhooks.states import DeliveryStatus

# A transfer has some six events; a tenant has up to twenty endpoints.
EVENTS_SHOWN = 20
DELIVERIES_SHOWN = 50
AUDIT_LINES_SHOWN = 5


@dataclass(frozen=True)
class EventLink:
    """A webhook event, and what was sent of it: each delivery with the URL of its endpoint."""

    line: EventLine
    deliveries: list[tuple[DeliveryLine, str]]


@dataclass(frozen=True)
class Chain:
    """What a page shows. `request` is None where no request of the API made it, or none is kept.
    `audit` is empty for who may not read the log; `are_events_cut` and `are_deliveries_cut`: there
    are more."""

    subject_id: str
    ledger: list[TransactionLine]
    events: list[EventLink]
    are_events_cut: bool
    are_deliveries_cut: bool
    request: ApiRequest | None
    audit: list[AuditLine]


@dataclass(frozen=True)
class Collected:
    """The rows of one subject, before they are put into words."""

    subject_id: str
    postings: Sequence[Mapping[str, Any]]
    events: Sequence[WebhookEvent]
    deliveries: Sequence[WebhookDelivery]
    is_stopped: bool
    request: ApiRequest | None
    audit: Sequence[AuditEvent]

    @property
    def actors(self) -> set[str]:
        """The ids of those who did something to it by the audit log."""
        return {row.actor_id for row in self.audit}

    def chain(self, names: Mapping[str, str]) -> Chain:
        """In words; `names` are those of `actors`, by their ids."""
        sent = _by_event(self.deliveries[:DELIVERIES_SHOWN], is_stopped=self.is_stopped)
        return Chain(
            subject_id=self.subject_id,
            ledger=[transaction_line(row) for row in self.postings],
            events=[EventLink(event_line(row), sent[row.pk]) for row in self.events[:EVENTS_SHOWN]],
            are_events_cut=len(self.events) > EVENTS_SHOWN,
            are_deliveries_cut=len(self.deliveries) > DELIVERIES_SHOWN,
            request=self.request,
            audit=[audit_line(row, names) for row in self.audit],
        )


def collect(*, tenant_id: str, subject_id: str, source_type: str, with_audit: bool) -> Collected:
    """The rows about a funding or a payment of the tenant. Six statements at most.

    `source_type` is what the ledger calls it; `with_audit`: the reader may read the audit log.
    """
    about = webhooks.events_about(tenant_id=tenant_id, payment_id=subject_id)
    events = list(about[: EVENTS_SHOWN + 1])  # one more than is shown: then there are more
    deliveries = _deliveries(events[:EVENTS_SHOWN])
    audit = tenants.audit_events_about(tenant_id=tenant_id, subject_id=subject_id)
    return Collected(
        subject_id=subject_id,
        postings=list(
            ledger.postings_of(
                tenant_id=tenant_id, source_type=source_type, source_id=subject_id
            ).values(*ledger.LINE)
        ),
        events=events,
        deliveries=deliveries,
        is_stopped=_is_stopped(tenant_id, deliveries),
        request=request_log.that_made(tenant_id=tenant_id, made_id=subject_id),
        audit=list(audit[:AUDIT_LINES_SHOWN]) if with_audit else [],
    )


def _deliveries(events: Sequence[WebhookEvent]) -> list[WebhookDelivery]:
    """One more than is shown, so that it is known that there are more."""
    if not events:
        return []
    rows = webhooks.deliveries_of_all(event_ids=[event.pk for event in events])
    return list(rows[: DELIVERIES_SHOWN + 1])


def _is_stopped(tenant_id: str, deliveries: Collection[WebhookDelivery]) -> bool:
    """Whether operators keep what is still to be sent; not asked where nothing is."""
    waits = any(row.status == DeliveryStatus.PENDING for row in deliveries)
    return waits and bool(stops.of_webhooks(tenant_id))


def _by_event(
    rows: Sequence[WebhookDelivery], *, is_stopped: bool
) -> Mapping[str, list[tuple[DeliveryLine, str]]]:
    found = defaultdict[str, list[tuple[DeliveryLine, str]]](list)
    for row in rows:
        line = delivery_line(row, is_stopped=is_stopped)
        found[row.event_id].append((line, row.endpoint.url))
    return found
