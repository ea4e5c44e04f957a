"""Moves a sandbox tenant's funding by hand, in place of its bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from common.errors import Conflict
from funding import selectors
from funding.models import FundingEvent, FundingTransaction
from funding.services import network_events, submission
from funding.states import FundingStatus
from networks.sandbox import control, due
from networks.sandbox.due import Transition


class SandboxRefused(Conflict):
    code = "sandbox_refused"
    title = "No bank could do this now"
    advice = "Read the object: its status does not allow this step."


_STEPS: dict[str, Callable[[str, datetime], object]] = {
    "advance": lambda funding_id, now: control.advance(funding_id, now=now),
    "complete": lambda funding_id, now: control.complete(funding_id, now=now),
    "fail": lambda funding_id, now: control.fail(funding_id, now=now),
    "return": lambda funding_id, now: control.return_entry(funding_id, now=now),
}
STEPS = tuple(_STEPS)


def step(*, tenant_id: str, funding_id: str, name: str, now: datetime) -> FundingTransaction:
    """Make the bank do `name` now, and apply it.

    A funding that no bank has seen is handed over first; for `advance` that is the step. Calls
    the network, so not inside a transaction. Raises NotFound, SandboxRefused.
    """
    funding = selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)
    is_unsent = funding.status == FundingStatus.RESERVED
    if is_unsent:
        submission.submit_due(now=now)
    if not (is_unsent and name == "advance"):
        try:
            _STEPS[name](funding_id, now)
        except control.ControlRefused as refusal:
            raise SandboxRefused(f"{refusal}.".capitalize(), status=funding.status) from refusal
        network_events.process(now=now)
    return selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)


def _run_due(now: datetime) -> int:
    return submission.submit_due(now=now) + network_events.process(now=now)


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
