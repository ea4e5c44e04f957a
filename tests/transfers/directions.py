"""Money in and money out as the cases that both must pass see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from funding.states import FUNDING_STATES
from funding.transfer import FUNDING
from payments.states import PAYMENT_STATES
from payments.transfer import PAYMENTS
from tenants.models import Tenant
from tests.builders import make_source
from tests.funding import builders as funding
from tests.payments import builders as payments
from transfers.contract import Transfer


@dataclass(frozen=True, kw_only=True)
class Direction:
    """`make` takes the tenant and, as it needs them, `amount` in cents and `to`: the number of the
    bank account on the other side. The three statuses are those of a row that is not handed over
    yet, of one that is, and of one whose money has arrived."""

    transfer: Transfer[Any]
    make: Callable[..., Any]
    run_due: Callable[..., None]
    states: Any
    unsent: str
    sent: str
    completed: str
    postings: tuple[str, ...]  # of a completed one


def _top_up(tenant: Tenant, amount: int = 10_000, *, to: str = "000123456789") -> Any:
    known = tenant.fundingsource_set.filter(last4=to[-4:]).first()
    source = known or make_source(tenant, account_number=to)
    return funding.top_up(tenant, amount=amount, source=source)


def _pay(tenant: Tenant, amount: int = 10_000, *, to: str = "000123456789") -> Any:
    payments.fund(tenant, amount)
    return payments.pay(tenant, amount, to=to)


DIRECTIONS = {
    "in": Direction(
        transfer=FUNDING,
        make=_top_up,
        run_due=funding.run_due,
        states=FUNDING_STATES,
        unsent="reserved",
        sent="pending",
        completed="completed",
        postings=("credit",),
    ),
    "out": Direction(
        transfer=PAYMENTS,
        make=_pay,
        run_due=payments.run_due,
        states=PAYMENT_STATES,
        unsent="created",
        sent="processing",
        completed="completed",
        postings=("lock", "settlement"),
    ),
}
