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
from dashboard.payments.methods import TEXTS
from dashboard.shell import timeline
from dashboard.shell.badges import Badge
from dashboard.shell.timeline import BankAnswer, Step
from networks import return_codes
from payments import attempts
from payments.attempts import Attempt, Outcome
from payments.methods import METHODS
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


_OUTCOMES = {
    Outcome.PENDING: Badge("On its way", "info"),
    Outcome.COMPLETED: Badge("Completed", "good"),
    Outcome.REFUSED: Badge("Refused", "bad"),
    Outcome.RETURNED: Badge("Returned", "bad"),
}


@dataclass(frozen=True)
class Try:
    """One way that a payment went. `why`: what the network said of it, mostly of a refusal."""

    how: str
    badge: Badge
    why: str
    ended_at: datetime | None


@dataclass(frozen=True)
class PaymentDetail:
    """`network` is the instant network that carries it, empty for ACH; `tries` are the ways that
    it went, if it went more than one. `recipient_id` is empty where the recipient was never on the
    tenant's list. `approval_id` is that of the approval, if people were asked, `why` says why they
    were, and `asked` is a sentence that says who can approve it. `warning` says what to look at
    twice in the recipient's names; mostly empty. `coming` is what happens next; `is_late`: the day
    on which it was expected is over."""

    line: PaymentLine
    day: str
    coming: list[Coming]
    is_late: bool
    warning: str
    stop: str
    network: str
    tries: list[Try]
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
    ways = attempts.of(row)
    steps = list(_steps(history, ways[: row.tries - 1], names))
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
        network=METHODS.carrier_words(row.method, row.network),
        tries=[_try(each) for each in ways] if row.tries > 1 else [],
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


def _steps(
    history: Sequence[PaymentEvent], refused: Sequence[Attempt], names: Mapping[str, str]
) -> Iterator[Step]:
    """The changes of status, and the refused tries at their places: each instead of the change that
    it made, or before the change by which the next network took it over."""
    left = list(refused)
    for event in history:
        move = (event.from_status, event.to_status)
        if move == (PaymentStatus.PROCESSING, PaymentStatus.CREATED) and left:
            yield _refused_step(left.pop(0))
            continue
        if event.to_status == PaymentStatus.PROCESSING and left and left[0].started_at is None:
            yield _refused_step(left.pop(0))
        yield _step(event, names)
    yield from map(_refused_step, left)


def _refused_step(attempt: Attempt) -> Step:
    if attempt.ended_at is None:
        raise ValueError(f"refused try {attempt.number} has no end")
    return Step(
        what=f"Refused as {METHODS[attempt.method].words}: sent another way",
        who=timeline.NETWORK,
        why=_said(attempt.code),
        at=attempt.ended_at,
    )


def _try(attempt: Attempt) -> Try:
    return Try(
        how=TEXTS.title(attempt.method),
        badge=_OUTCOMES[attempt.outcome],
        why=_said(attempt.code) if attempt.code else "",
        ended_at=attempt.ended_at,
    )


def _said(code: str) -> str:
    return f"{code}: {return_codes.title(code)}"


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
