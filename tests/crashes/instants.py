"""An instant rail over a folder, for stories: a payment that a worker left behind, what the network
says, and a payment whose bank had time to post it."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from common.clock import utc_now
from networks.base import Instruction
from networks.instant.iso.messages import CreditTransfer
from networks.instant.models import (
    Conversation,
    InstantLine,
    InstantRail,
    InstantVersion,
    Message,
    ReturnAsk,
)
from networks.instant.network import InstantNetwork
from networks.instant.receiving import listening
from tests.crashes.banks import new_name
from tests.networks.instant.builders import make_rail, payment, request
from tests.networks.instant.operator import Operator

RAIL = "instant_one"


def new_rail() -> str:
    """One of nobody else, of which nothing was said yet."""
    name = new_name()
    make_rail(_home(), name=name, profile="fednow")
    return name


def short_position() -> None:
    """Less lies at a network than its terms say, and nobody was told of it."""
    InstantVersion.objects.filter(rail__name__startswith="bank").update(status="superseded")
    make_rail(_home(), name=new_name(), keeps_position=True, position_warn_below=1)


def left_behind() -> None:
    """A worker died before it handed a payment over, which is due again."""
    Message.objects.filter(rail_id=RAIL).update(next_attempt_at=None)
    told = payment()
    _submitted(told)
    Message.objects.filter(conversation__instruction_id=told.id).update(
        next_attempt_at=utc_now() - timedelta(seconds=1)
    )


def heard() -> None:
    """The network has said of a payment that it settled, and sends money for a request."""
    operator, now = _operator(), utc_now()
    operator.taken()
    _submitted(payment(), request(now))
    by_kind: dict[str, Any] = {message.kind: message for message in operator.taken()}
    money = operator.payment_of(by_kind["pain.013"], now=now)
    operator.say(operator.report(by_kind["pacs.008"], "ACSC", now=now))
    operator.say(money, operator.report(money, "ACSC", now=now))


def stray() -> Conversation:
    """Money came that nobody asked for."""
    _money_comes(_operator(), RAIL)
    return Conversation.objects.filter(rail_id=RAIL, kind="credit").latest("pk")


def asked_back() -> ReturnAsk:
    """Another bank asks for the money of a credit back, over a rail of its own: what is given back
    would change the position of the next one."""
    rail, home = new_name(), Path(tempfile.mkdtemp(prefix="instant-"))
    make_rail(home, name=rail, profile="fednow")
    operator = Operator(home, "fednow")
    money = _money_comes(operator, rail)
    operator.say(operator.ask_back(money, now=utc_now()))
    _hear(rail)
    return ReturnAsk.objects.get(rail_id=rail)


def faulty() -> Message:
    """The network answers something that we never said."""
    operator, now = _operator(), utc_now()
    operator.say(operator.report(operator.transfer(now=now), "ACSC", now=now))
    _hear(RAIL)
    return Message.objects.filter(rail_id=RAIL, status="faulty").latest("pk")


def unposted() -> None:
    """A receiving bank has had its time to post a payment."""
    operator, now = _operator(), utc_now()
    operator.taken()
    _submitted(payment())
    (order,) = operator.taken()
    operator.say(operator.report(order, "ACWP", now=now))
    listening.listen(RAIL, seconds=0, now=now)
    Conversation.objects.filter(rail_id=RAIL, status="settled").update(
        final_due_at=now - timedelta(seconds=1)
    )


def _money_comes(operator: Operator, rail: str) -> CreditTransfer:
    now = utc_now()
    money = operator.transfer(now=now)
    operator.say(money, operator.report(money, "ACSC", now=now))
    _hear(rail)
    operator.taken()
    return money


def _hear(rail: str) -> None:
    listening.listen(rail, seconds=0, now=utc_now())


def _submitted(*told: Instruction) -> None:
    _operator()
    InstantNetwork(RAIL).submit_many(told, now=utc_now())


def _operator() -> Operator:
    if not InstantRail.objects.filter(pk=RAIL).exists():
        make_rail(_home(), name=RAIL, profile="fednow")
        InstantLine.objects.create(pk=RAIL, next_attempt_at=utc_now())
    return Operator(_home(), "fednow")


@cache
def _home() -> Path:
    return Path(tempfile.mkdtemp(prefix="instant-"))
