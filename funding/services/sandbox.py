"""A sandbox tenant plays its own bank, and reads its approvers' mail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from common.ids import is_id
from funding import selectors
from funding.errors import UnknownConfirmation
from funding.models import Confirmation, Decision, FundingEvent, FundingTransaction
from funding.services import (
    auto_funding,
    confirmation_links,
    confirmation_sweeps,
    deposits,
    network_events,
    submission,
)
from networks.sandbox import due, steps
from networks.sandbox.due import Transition

MADE_UP_APPROVER = "approver@sandbox.invalid"


@dataclass(frozen=True, kw_only=True)
class ApproverLinks:
    """The links of one question by approver; none once it is decided or over."""

    question: Confirmation
    urls: dict[str, str]


def step(*, tenant_id: str, funding_id: str, name: str, now: datetime) -> FundingTransaction:
    """Make the bank do `name` now, and apply it. Not inside a transaction.

    Raises NotFound, SandboxRefused.
    """
    funding = selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)
    steps.take(name, row=funding, desk=submission.DESK, inbox=network_events.INBOX, now=now)
    return selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)


@transaction.atomic
def magic_links(*, tenant_id: str, funding_id: str, now: datetime) -> ApproverLinks:
    """New links to decide about a funding, as the e-mails would bring. Raises UnknownConfirmation.

    With nobody to ask there is one of a made-up approver, so that a test needs no people.
    """
    rows = Confirmation.objects.filter(tenant_id=tenant_id, funding_id=funding_id)
    question = rows.first() if is_id(funding_id, "ftx") else None
    if question is None:
        raise UnknownConfirmation("Nobody is asked about this funding transaction.")
    is_open = question.decision == Decision.OPEN and now < question.expires_at
    approvers = (question.approvers or [MADE_UP_APPROVER]) if is_open else []
    return ApproverLinks(
        question=question,
        urls={
            address: confirmation_links.mint(confirmation=question, approver_email=address, now=now)
            for address in approvers
        },
    )


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
