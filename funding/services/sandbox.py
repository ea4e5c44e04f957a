"""A sandbox tenant plays its own bank, and gets its approvers' links without a mailbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from approvals import links
from approvals.links import ApproverLinks
from funding import selectors
from funding.models import FundingEvent, FundingSource, FundingTransaction
from funding.services import (
    approval_sweeps,
    auto_funding,
    deposits,
)
from funding.services.approval_policy import POLICY
from funding.transfer import FUNDING
from transfers import submission
from transfers.inbox import messages
from transfers.sandbox import due, steps
from transfers.sandbox.due import Transition


def step(*, tenant_id: str, funding_id: str, name: str, now: datetime) -> FundingTransaction:
    """Make the sandbox bank do `name` now, and apply it. Not inside a transaction.

    Raises NotFound, SandboxRefused.
    """
    funding = selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)
    steps.take(name, FUNDING, funding, now=now)
    return selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)


def magic_links(*, tenant_id: str, funding_id: str, now: datetime) -> ApproverLinks:
    """New links for answering the approval of a funding, such as e-mails would bring. Raises
    UnknownApproval."""
    return links.for_sandbox(POLICY, tenant_id=tenant_id, subject_id=funding_id, now=now)


def _run_due(now: datetime) -> int:
    return (
        submission.submit_due(FUNDING, now=now)
        + messages.process(FUNDING, now=now)
        + deposits.process_due(now=now)
        + approval_sweeps.sweep(now=now)
        + auto_funding.sweep(now=now)
    )


def _watch(tenant_id: str, now: datetime) -> Callable[[], Iterator[Transition]]:
    """Prepare to report what moved. Fundings have a history; for sources, the status before and
    after is compared."""
    history = FundingEvent.objects.filter(funding__tenant_id=tenant_id)
    before = _source_statuses(tenant_id)

    def moves() -> Iterator[Transition]:
        yield from due.transitions(history, of="funding_id", since=now)
        for source_id, status in _source_statuses(tenant_id).items():
            if before.get(source_id, status) != status:
                yield Transition(
                    id=source_id, from_status=before[source_id], to_status=status, at=now
                )

    return moves


def _source_statuses(tenant_id: str) -> dict[str, str]:
    rows = FundingSource.objects.filter(tenant_id=tenant_id)
    return dict(rows.values_list("pk", "status"))


PART = due.Part(run=_run_due, watch=_watch)
