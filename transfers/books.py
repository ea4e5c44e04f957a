"""What the steps of a transfer post to the operator's books (decision 0213).

A network may say that money is final, or came back, without having said that it settled. Then it
settled before, and that step is booked first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from balance.kinds import PostingType
from balance.operator.accounts import OperatorAccount, Step, steps_on
from balance.operator.posting import Booking

_AT_THE_BANK = frozenset(steps_on(OperatorAccount.SETTLEMENT))


class Happened(StrEnum):
    """What became of a transfer's money, once its network said so."""

    SETTLED = "settled"
    FINAL = "final"
    RETURNED = "returned"  # before it was final
    RETURNED_LATE = "returned_late"


class Way(NamedTuple):
    """The steps of one kind of transfer. `final` and `returned` follow `settled`; `returned_late`
    follows `final`."""

    settled: Step
    final: tuple[Step, ...]
    returned: tuple[Step, ...]
    returned_late: tuple[Step, ...]

    def steps(self, happened: Happened, *, is_settled: bool) -> Sequence[Step]:
        """The steps to book, of which the settlement may be booked already."""
        first = () if is_settled else (self.settled,)
        match happened:
            case Happened.SETTLED:
                return (self.settled,)
            case Happened.FINAL:
                return first + self.final
            case Happened.RETURNED:
                return first + self.returned
            case Happened.RETURNED_LATE:
                return self.returned_late


IN = Way(
    settled=Step.IN_SETTLED,
    final=(Step.IN_FINAL,),
    returned=(Step.IN_RETURNED,),
    returned_late=(Step.IN_RETURNED_LATE, Step.IN_CHARGED),
)
OUT = Way(
    settled=Step.OUT_SETTLED,
    final=(Step.OUT_FINAL,),
    returned=(Step.OUT_RETURNED,),
    returned_late=(Step.OUT_RETURNED_LATE, Step.OUT_GIVEN_BACK),
)
# A micro-deposit is a cost once it settles, and the debit that takes deposits back lowers it.
DEPOSIT = Way(
    settled=Step.VERIFICATION_PAID,
    final=(),
    returned=(Step.VERIFICATION_COLLECTED,),
    returned_late=(Step.VERIFICATION_COLLECTED,),
)
DEPOSIT_DEBIT = Way(
    settled=Step.VERIFICATION_COLLECTED,
    final=(),
    returned=(Step.VERIFICATION_PAID,),
    returned_late=(Step.VERIFICATION_PAID,),
)


class Dishonored(NamedTuple):
    """What our bank's refusal of a return does to one direction: the steps at the bank, and those
    with the tenant's postings that belong to them, each with the words of its line."""

    dishonored: Step
    counted: Step
    counts: PostingType
    says_counted: str
    contested: Step
    undone: Step
    undoes: PostingType
    says_undone: str
    is_safe_at_once: bool  # whether the tenant's balance follows before the contest time is over


# Money in may leave again until the contest time is over, so it is nobody's to spend before. Money
# out has left by the dishonor, so the tenant cannot keep what the return gave back.
DISHONORED = {
    "in": Dishonored(
        dishonored=Step.IN_DISHONORED,
        counted=Step.IN_CREDITED_AGAIN,
        counts=PostingType.CREDIT,
        says_counted="The return of {} was not accepted: its money came again",
        contested=Step.IN_CONTESTED,
        undone=Step.IN_CHARGED_AGAIN,
        undoes=PostingType.DEBIT,
        says_undone="The return of {} stands after all: its money left again",
        is_safe_at_once=False,
    ),
    "out": Dishonored(
        dishonored=Step.OUT_DISHONORED,
        counted=Step.OUT_CHARGED_AGAIN,
        counts=PostingType.DEBIT,
        says_counted="The return of {} was not accepted: its money left again",
        contested=Step.OUT_CONTESTED,
        undone=Step.OUT_GIVEN_BACK_AGAIN,
        undoes=PostingType.CREDIT,
        says_undone="The return of {} stands after all: its money came back again",
        is_safe_at_once=True,
    ),
}


def bookings(
    row: Any, happened: Happened, way: Way, *, source_type: str, day: date | None
) -> list[Booking]:
    """The lines of what happened to a transfer.

    The row's `settlement_date` says whether its network told that it settled. `day` is the banking
    day that the network named, if it did; it counts for what moves at the bank.
    """
    return [
        Booking(
            step=step,
            amount=row.amount,
            rail=row.network,
            source_type=source_type,
            source_id=row.pk,
            tenant_id=row.tenant_id,
            day=day if step in _AT_THE_BANK else None,
        )
        for step in way.steps(happened, is_settled=row.settlement_date is not None)
    ]
