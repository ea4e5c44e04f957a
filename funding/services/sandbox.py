"""A sandbox tenant plays its own bank, and reads its approvers' mail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from approvals import links
from approvals.links import ApproverLinks
from funding import selectors
from funding.models import FundingEvent, FundingTransaction
from funding.services import (
    auto_funding,
    confirmation_sweeps,
    deposits,
    network_events,
    submission,
)
from funding.services.confirmation_outcomes import MATTER
from networks.sandbox import due, steps
from networks.sandbox.due import Transition


def step(*, tenant_id: str, funding_id: str, name: str, now: datetime) -> FundingTransaction:
    """Make the bank do `name` now, and apply it. Not inside a transaction.

    Raises NotFound, SandboxRefused.
    """
    funding = selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)
    steps.take(name, row=funding, desk=submission.DESK, inbox=network_events.INBOX, now=now)
    return selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)


def magic_links(*, tenant_id: str, funding_id: str, now: datetime) -> ApproverLinks:
    """New links to decide about a funding, as the mails would bring. Raises UnknownConfirmation."""
    return links.for_sandbox(MATTER, tenant_id=tenant_id, subject_id=funding_id, now=now)


def _run_due(now: datetime) -> int:
    return (
        submission.submit_due(now=now)
        + network_events.process(now=now)
        + deposits.process_due(now=now)
        + confirmation_sweeps.sweep(now=now)
        + auto_funding.sweep(now=now)
    )


def _transitions(tenant_id: str, since: datetime) -> Iterator[Transition]:
    steps = FundingEvent.objects.filter(funding__tenant_id=tenant_id, created_at__gte=since)
    for row in steps.order_by("created_at", "sequence"):
        yield Transition(
            id=row.funding_id,
            from_status=row.from_status,
            to_status=row.to_status,
            at=row.created_at,
        )


PART = due.Part(run=_run_due, transitions=_transitions)
