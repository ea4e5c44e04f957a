"""One attempt to bring money in, as its own page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from dashboard.approvals.lines import ApprovalFact, approval_fact
from dashboard.chain import coming, titles
from dashboard.chain.coming import Coming
from dashboard.funding.lines import FundingLine, funding_line
from dashboard.shell import stops, timeline
from dashboard.shell.timeline import BankAnswer, Step
from funding.methods import METHODS
from funding.models import FundingEvent, FundingTransaction
from funding.services import topups
from funding.services.retries import Standing
from funding.states import IN_FLIGHT, FundingStatus, SourceStatus
from funding.transfer import FUNDING
from networks import routing

_STEPS = {
    FundingStatus.RESERVED: "Reserved",
    FundingStatus.AWAITING_CONFIRMATION: "Waiting for approval",
    FundingStatus.PENDING: "Handed to the payment network",
    FundingStatus.IN_TRANSIT: "Accepted by the network",
    FundingStatus.COMPLETED: "Completed: the money is available",
    FundingStatus.FAILED: "Failed",
}


@dataclass(frozen=True)
class Request:
    """A request for payment that waits for the account holder: at which bank, of which account, and
    until when."""

    bank: str
    account: str
    expires_at: datetime


@dataclass(frozen=True)
class FundingDetail:
    """`network` is the instant network that carries it, empty for ACH; `request` is what the
    account holder has to approve now. `approval_id` is that of its approval, empty where nobody was
    asked. `retry_of` is the id of the funding that it tries again, `why_no_retry` a sentence about
    one that came back for want of funds and cannot be tried again now. `source_id` is that of the
    bank account, empty where that is removed. `coming` is what happens next; `is_late`: the day on
    which it was expected is over."""

    line: FundingLine
    day: str
    network: str
    request: Request | None
    source_id: str
    coming: list[Coming]
    is_late: bool
    stop: str
    approval: ApprovalFact | None
    steps: list[Step]
    answer: BankAnswer | None
    reference: str
    trace_number: str
    settlement_date: date | None
    returned_at: datetime | None
    is_moving: bool
    may_cancel: bool
    is_held: bool
    approval_id: str
    awaits_approval: bool
    retry_of: str
    retries: list[FundingLine]
    may_retry: bool
    why_no_retry: str


def detail(
    row: FundingTransaction,
    *,
    history: Sequence[FundingEvent],
    names: Mapping[str, str],
    stop: str,
    now: datetime,
    retried: Standing | None = None,
) -> FundingDetail:
    """`names` are those of the people and keys in the history; `stop` says that, and by what,
    sending funding is stopped; `retried` is there if it came back for want of funds."""
    is_unsent = row.status in (FundingStatus.RESERVED, FundingStatus.AWAITING_CONFIRMATION)
    line = funding_line(row, stopped=stops.BADGE if stop else None)
    steps_to_come = coming.of_funding(row, is_stopped=bool(stop), now=now)
    return FundingDetail(
        line=line,
        day=titles.day(row.created_at, now=now),
        network=METHODS.carrier_words(row.method, row.network),
        request=_request(row),
        source_id="" if row.source.status == SourceStatus.REMOVED else row.source_id,
        coming=steps_to_come,
        is_late=any(step.is_late for step in steps_to_come),
        stop=stop if is_unsent else "",
        approval=approval_fact(getattr(row, "confirmation", None)),
        steps=timeline.with_bank_notes(
            [_step(row, event, names) for event in history], row, FUNDING.expected_on
        ),
        answer=_answer(row),
        reference=row.network_reference,
        trace_number=row.trace_number,
        settlement_date=row.settlement_date,
        returned_at=row.returned_at,
        is_moving=row.status in IN_FLIGHT,
        may_cancel=row.is_unsent,
        is_held=row.held_at is not None,
        approval_id=str(row.confirmation.pk) if hasattr(row, "confirmation") else "",
        awaits_approval=row.status == FundingStatus.AWAITING_CONFIRMATION,
        retry_of=row.retry_of_id or "",
        retries=[funding_line(each) for each in retried.retries] if retried else [],
        may_retry=retried is not None and not retried.obstacle,
        why_no_retry=retried.obstacle if retried else "",
    )


def _request(row: FundingTransaction) -> Request | None:
    """None once the account holder has answered, and for what asks nobody."""
    if row.request_expires_at is None or row.status != FundingStatus.PENDING:
        return None
    source = row.source
    bank = source.bank_name or routing.bank_name(source.routing_number) or "the payer's bank"
    return Request(bank, f"··{source.last4}", row.request_expires_at)


def _step(row: FundingTransaction, event: FundingEvent, names: Mapping[str, str]) -> Step:
    is_canceled = event.reason == topups.CANCELED_CODE
    return Step(
        what="Canceled: nothing was sent" if is_canceled else _what(row, event),
        who=timeline.who(event.actor_type, event.actor_id, names),
        why="" if is_canceled else event.reason,
        at=event.created_at,
    )


def _what(row: FundingTransaction, event: FundingEvent) -> str:
    status = FundingStatus(event.to_status)
    if status == FundingStatus.FAILED and row.returned:
        return "Returned by the bank"
    return _STEPS[status]


def _answer(row: FundingTransaction) -> BankAnswer | None:
    found = timeline.bank_code(row)
    if found is None:
        return None
    return BankAnswer(found.code, found.title, found.meaning, found.advice)
