"""What comes next for a funding or a payment, with the day or time by which it should happen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from common import days
from dashboard.funding.methods import TEXTS as FUNDING_TEXTS
from dashboard.payments.methods import TEXTS as PAYMENT_TEXTS
from funding.methods import METHODS as FUNDING_METHODS
from funding.models import FundingTransaction
from funding.states import FundingStatus
from networks import calendar
from networks.base import HolderType, Method
from networks.instant import position
from payments.methods import METHODS as PAYMENT_METHODS
from payments.models import Payment
from payments.states import PaymentStatus

_REVIEW = "Our staff finish their review"
_SENT = "Sent to the bank"
_SENT_AFTER_THE_STOP = "Sent to the bank once sending resumes"
_NOT_LEFT = "It goes by itself. Nothing of it has left yet."
_OVERDUE = "It was expected by the end of this day. We have not heard from the bank yet."


@dataclass(frozen=True)
class Coming:
    """One step that is still to come: `on` a banking day or `at` a time, where one is known.
    `is_late`: its day is over."""

    what: str
    on: date | None = None
    at: datetime | None = None
    why: str = ""
    is_late: bool = False


def of_funding(row: FundingTransaction, *, is_stopped: bool, now: datetime) -> list[Coming]:
    """`row` with its bank account. `is_stopped`: operators keep funding of this tenant."""
    return list(_of_funding(row, is_stopped=is_stopped, now=now))


def of_payment(row: Payment, *, is_stopped: bool, now: datetime) -> list[Coming]:
    """`row` with its recipient. `is_stopped`: operators keep payments of this tenant."""
    return list(_of_payment(row, is_stopped=is_stopped, now=now))


def is_late(expected_on: date | None, *, now: datetime) -> bool:
    """Whether the Eastern day on which something was expected is over."""
    return expected_on is not None and expected_on < days.day_of(now)


def _of_funding(row: FundingTransaction, *, is_stopped: bool, now: datetime) -> Iterator[Coming]:
    if row.status == FundingStatus.AWAITING_CONFIRMATION:
        yield from _until_approved(row.confirmation_expires_at)
    elif row.status == FundingStatus.RESERVED and row.held_at:
        yield Coming(_REVIEW)
    elif row.status == FundingStatus.RESERVED:
        yield Coming(_SENT_AFTER_THE_STOP if is_stopped else _SENT)
    if row.is_going and not (is_stopped and row.status == FundingStatus.RESERVED):
        yield from _settlement(row.settlement_date, now)
        soon = FUNDING_TEXTS.soon(row.method)
        yield _expected("Available in your balance", row.expected_availability_date, soon, now)
    if row.status == FundingStatus.COMPLETED and row.settlement_date and _is_of_a_person(row):
        last = calendar.unauthorized_return_due_date(row.settlement_date)
        yield from _window("The holder of the account can dispute it", last, now)


def _of_payment(row: Payment, *, is_stopped: bool, now: datetime) -> Iterator[Coming]:
    is_kept = is_stopped and row.status == PaymentStatus.CREATED
    yield from _before_sending(row, is_kept=is_kept)
    if _waits_at_the_network(row):
        yield Coming("Sent once our account at the network has the money", why=_NOT_LEFT)
    elif row.is_going and not is_kept:
        yield from _settlement(row.settlement_date, now)
        soon = PAYMENT_TEXTS.soon(row.method)
        yield _expected("At the recipient's bank", row.expected_arrival_date, soon, now)
    settles = row.settlement_date or row.expected_arrival_date
    if _can_be_returned(row) and settles:
        last = calendar.return_due_date(settles)
        yield from _window("The recipient's bank can return it", last, now)


def _waits_at_the_network(row: Payment) -> bool:
    """One query, of an instant payment that is on its way."""
    is_instant = PAYMENT_METHODS[row.method].network_method == Method.RTP_CREDIT
    return is_instant and row.status == PaymentStatus.PROCESSING and position.waits(row.pk)


def _before_sending(row: Payment, *, is_kept: bool) -> Iterator[Coming]:
    if row.awaits_confirmation:
        yield from _until_approved(row.confirmation_expires_at)
    elif row.status == PaymentStatus.WAITING_FOR_FUNDS:
        yield Coming("Canceled if the balance does not cover it", at=row.waits_until)
    elif row.status == PaymentStatus.CREATED and row.held_at:
        yield Coming(_REVIEW)
    elif row.held_back_at:
        yield Coming("Sent once the available balance is no longer below zero")
    elif row.status == PaymentStatus.CREATED:
        yield Coming(_SENT_AFTER_THE_STOP if is_kept else _SENT)


def _until_approved(expires_at: datetime | None) -> Iterator[Coming]:
    yield Coming("The request for approval expires", at=expires_at)
    yield Coming("Sent to the bank, if it is approved")


def _settlement(on: date | None, now: datetime) -> Iterator[Coming]:
    if on is not None and on >= days.day_of(now):
        yield Coming("Settled between the banks", on=on)


def _expected(what: str, on: date | None, soon: str, now: datetime) -> Coming:
    """`soon` is what is said instead of the day while that lasts."""
    if is_late(on, now=now):
        return Coming(what, on=on, why=_OVERDUE, is_late=True)
    return Coming(what, why=soon) if soon else Coming(what, on=on)


def _window(what: str, last: date, now: datetime) -> Iterator[Coming]:
    """Until when something can happen that need not; nothing once that is over."""
    if last >= days.day_of(now):
        yield Coming(f"{what} until this day", on=last)


def _is_of_a_person(row: FundingTransaction) -> bool:
    """Whether it debits a person, who may call it unauthorized for sixty days."""
    is_debit = FUNDING_METHODS[row.method].network_method == Method.ACH_DEBIT
    return is_debit and row.source.account_holder_type == HolderType.INDIVIDUAL


def _can_be_returned(row: Payment) -> bool:
    """Whether banks may still send it back: RTP is final."""
    is_ach = PAYMENT_METHODS[row.method].network_method == Method.ACH_CREDIT
    return is_ach and row.status in (PaymentStatus.PROCESSING, PaymentStatus.COMPLETED)
