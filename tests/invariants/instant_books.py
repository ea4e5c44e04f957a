"""An instant rail in the books: a payment that settled after a time-out, and a request that was
paid, and for whose money its payer's bank asks; a payment that nobody has answered."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.clock import utc_now
from desk import doers
from desk.doers import operator as operator_of
from desk.instant import asks
from desk.positions import lists
from networks.instant.models import Conversation, Message, ReturnAsk
from networks.instant.network import InstantNetwork
from tenants import actors
from tenants.models import Tenant
from tests.builders import make_staff
from tests.networks.instant.builders import PAYEE_ROUTING, RAIL, make_rail, payment, request
from tests.networks.instant.life import hear
from tests.networks.instant.operator import Operator, only

_LIST = f"""routing_number,receives_credits,receives_requests
{PAYEE_ROUTING},yes,yes
""".encode()


def keep(tenant: Tenant) -> dict[str, Any]:
    """The payment (`icp`) with its second order (`imo`), the request (`icr`) with what paid it
    (`icc`) and is asked back (`ira`), the payment without an answer (`icw`) with its order
    (`imw`)."""
    who: dict[str, Any] = {"doer": operator_of("Ann"), "now": utc_now()}
    lists.take("fednow", _LIST, reason="The daily one", is_forced=False, **who)
    with TemporaryDirectory() as place:
        make_rail(place)
        operator, bank = Operator(Path(place), "fednow"), InstantNetwork(RAIL)
        paid, waits = (payment(tenant_id=tenant.pk) for _ in range(2))
        asked = request(utc_now(), tenant_id=tenant.pk)
        bank.submit_many([paid], now=utc_now())
        _settle(operator)
        bank.submit_many([asked], now=utc_now())
        _pay(operator)
        bank.submit_many([waits], now=utc_now())
    rows = {row.instruction_id: row for row in Conversation.objects.exclude(instruction_id="")}
    credit = Conversation.objects.get(kind="credit")
    orders = Message.objects.filter(direction="out", name="pacs.008")
    return {
        "ira": _ask().pk,
        "icp": rows[paid.id].pk,
        "icr": rows[asked.id].pk,
        "icc": credit.pk,
        "icw": rows[waits.id].pk,
        "imo": orders.filter(conversation=rows[paid.id]).order_by("-pk")[0].pk,
        "imw": orders.get(conversation=rows[waits.id]).pk,
    }


def _settle(operator: Operator) -> None:
    """The first order is too late, the second one settles."""
    now = utc_now()
    operator.say(operator.report(only(operator.taken()), "RJCT", code="E997", now=now))
    hear()
    operator.say(operator.report(only(operator.taken()), "ACSC", now=now))
    hear()


def _pay(operator: Operator) -> None:
    now = utc_now()
    money = operator.payment_of(only(operator.taken()), now=now)
    operator.say(money, operator.report(money, "ACSC", now=now))
    hear()
    operator.say(operator.ask_back(money, now=now))
    hear()


def _ask() -> ReturnAsk:
    """One person has said what to answer."""
    ask = ReturnAsk.objects.get()
    doer = doers.person(actors.staff(make_staff("ann@ballast.example").pk))
    asks.propose(ask=ask, answer="CUST", reason="They say no", doer=doer, now=utc_now())
    return ask
