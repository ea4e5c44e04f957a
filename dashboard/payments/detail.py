"""One payment, as its own page shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from approvals.models import ApprovalStatus
from common import brand, lookalikes
from dashboard.approvals.deciders import asked_words
from dashboard.approvals.lines import ApprovalFact, approval_fact
from dashboard.auto_funding.state import people
from dashboard.chain import coming, titles
from dashboard.chain.coming import Coming
from dashboard.payments.lines import PaymentLine, payment_line
from dashboard.shell import timeline
from dashboard.shell.timeline import BankAnswer, Step
from payments.models import Payment, PaymentConfirmation, PaymentEvent
from payments.states import PaymentStatus
from payments.transfer import PAYMENTS

_STEPS = {
    PaymentStatus.WAITING_FOR_FUNDS: "Ordered, and waiting until the balance covers it",
    PaymentStatus.CREATED: "Money set aside",
    PaymentStatus.PROCESSING: "Handed to the payment network",
    PaymentStatus.COMPLETED: "Completed: the recipient's bank has the money",
    PaymentStatus.FAILED: "Failed",
    PaymentStatus.RETURNED: "Returned: the money is available again",
    PaymentStatus.CANCELED: "Canceled: nothing was sent",
}
_OTHER_DETAILS = (
    "Ask the recipient for current account details, add them as a new recipient and pay again."
)
_ASK = "Ask the recipient, then pay again or pay another way."


@dataclass(frozen=True)
class PaymentDetail:
    """`recipient_id` is empty where the recipient was never on the tenant's list. `approval_id` is
    that of the approval, if people were asked, `why` says why they were, and `asked` is a sentence
    that says who can approve it. `warning` says what to look at twice in the recipient's names;
    mostly empty. `coming` is what happens next; `is_late`: the day on which it was expected is
    over."""

    line: PaymentLine
    day: str
    coming: list[Coming]
    is_late: bool
    warning: str
    stop: str
    holder: str
    recipient_id: str
    steps: list[Step]
    answer: BankAnswer | None
    is_back: bool
    description: str
    waits_until: datetime | None
    approvals: list[tuple[str, ApprovalFact]]
    approval_id: str
    why: str
    asked: str
    confirmation_expires_at: datetime | None
    hold_reason: str
    held_back_at: datetime | None
    reference: str
    trace_number: str
    settlement_date: date | None
    returned_at: datetime | None
    is_moving: bool
    may_cancel: bool


def detail(
    row: Payment,
    *,
    history: Sequence[PaymentEvent],
    approvals: Sequence[PaymentConfirmation],
    deciding: Sequence[str],
    names: Mapping[str, str],
    stop: str,
    new: Mapping[str, datetime],
    now: datetime,
) -> PaymentDetail:
    """`approvals` begin with the first; the last one counts. `deciding` are the addresses of those
    who decide it now, while it is open; `names` are those of the people and keys in the history;
    `stop` says that, and by what, sending payments is stopped; `new` are the approvers who cannot
    approve yet, with the moment from which each can."""
    is_waiting = row.status == PaymentStatus.WAITING_FOR_FUNDS
    approval = approvals[-1] if approvals else None
    steps = [_step(event, names) for event in history]
    steps += [step for each in approvals for step in _approval_steps(each)]
    answer = _answer(row)
    steps_to_come = coming.of_payment(row, is_stopped=bool(stop), now=now)
    return PaymentDetail(
        line=payment_line(row, is_stopped=bool(stop)),
        day=titles.day(row.created_at, now=now),
        coming=steps_to_come,
        is_late=any(step.is_late for step in steps_to_come),
        warning=lookalikes.warning(row.recipient.display_name, row.recipient.account_holder_name),
        stop=stop if row.status in (PaymentStatus.CREATED, PaymentStatus.WAITING_FOR_FUNDS) else "",
        holder=row.recipient.account_holder_name,
        recipient_id=row.recipient_id if row.recipient.is_saved else "",
        steps=timeline.with_bank_notes(steps, row, PAYMENTS.expected_on),
        answer=answer,
        is_back=answer is not None,
        description=row.description,
        waits_until=row.waits_until if is_waiting else None,
        approvals=[(each.pk, fact) for each in approvals if (fact := approval_fact(each))],
        approval_id=approval.pk if approval else "",
        why=approval.reason if approval else "",
        asked=asked_words(deciding, later=new) if approval else "",
        confirmation_expires_at=row.confirmation_expires_at if row.awaits_confirmation else None,
        hold_reason=row.hold_reason if row.is_unsent else "",
        held_back_at=row.held_back_at,
        reference=row.network_reference,
        trace_number=row.trace_number,
        settlement_date=row.settlement_date,
        returned_at=row.returned_at,
        is_moving=row.is_unsent or row.status == PaymentStatus.PROCESSING,
        may_cancel=row.is_unsent,
    )


def _step(event: PaymentEvent, names: Mapping[str, str]) -> Step:
    return Step(
        what=_STEPS[PaymentStatus(event.to_status)],
        who=timeline.who(event.actor_type, event.actor_id, names),
        why=event.reason,
        at=event.created_at,
    )


def _approval_steps(approval: PaymentConfirmation) -> Iterator[Step]:
    asked = people(approval.approvers)
    yield Step(
        f"Approval requested from: {asked}", brand.name(), approval.reason, approval.created_at
    )
    # A refusal is in the history, too, with its reason; an approval moves nothing by itself.
    if approval.decision == ApprovalStatus.APPROVED and approval.decided_at is not None:
        yield Step("Approved", approval.decided_by, "", approval.decided_at)


def _answer(row: Payment) -> BankAnswer | None:
    """Why the bank or the network gave the money back, and what to do about it."""
    found = timeline.bank_code(row)
    if found is None:
        return None
    advice = _OTHER_DETAILS if found.ends_account else _ASK
    return BankAnswer(found.code, found.title, found.meaning, advice)
