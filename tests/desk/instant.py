"""Instant payments over a folder, for the desk's pages of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from common.clock import utc_now
from networks.instant.models import Conversation, Message
from networks.instant.network import InstantNetwork
from tenants.models import AuditEvent
from tests.desk.exceptions import shown
from tests.networks.instant.builders import RAIL, make_rail, payment, request
from tests.networks.instant.life import hear, the
from tests.networks.instant.operator import Operator

LIST = "/admin/desk/instant/"
MESSAGES = f"{LIST}messages/"
REASON = "Asked the network by telephone"
PAYER = "1000200"  # whose account pays our requests

__all__ = ["Talk", "shown"]


class Talk:
    """A rail, and what the network says over it."""

    def __init__(self, home: Path, profile: str = "fednow") -> None:
        make_rail(home, profile=profile)
        self.operator = Operator(home, profile)
        self.bank = InstantNetwork(RAIL)

    def pay(self, **columns: Any) -> Conversation:
        """A payment that was handed over, and of which nobody said anything."""
        told = payment(**columns)
        self.bank.submit_many([told], now=utc_now())
        return the(told.id)

    def settle(self, row: Conversation) -> None:
        """The network says that a payment settled."""
        (order,) = (each for each in self.operator.taken() if each.kind == "pacs.008")
        self.operator.say(self.operator.report(order, "ACSC", now=utc_now()))
        hear()
        row.refresh_from_db()

    def request_paid(self, **columns: Any) -> Conversation:
        """A request for payment that was paid."""
        now = utc_now()
        told = request(now, **columns)
        self.bank.submit_many([told], now=now)
        asked: Any = self.operator.taken()[0]
        self.money_comes(self.operator.payment_of(asked, now=now), now)
        return the(told.id)

    def money_comes(self, money: Any, now: datetime) -> None:
        """Money to us, of which the network says that it settled."""
        self.operator.say(money, self.operator.report(money, "ACSC", now=now))
        hear()
        self.operator.taken()
        hear()

    def stray(self, **changes: Any) -> Conversation:
        """Money that nobody asked for."""
        now = utc_now()
        self.money_comes(self.operator.transfer(now=now, **changes), now)
        return Conversation.objects.filter(kind="credit").latest("pk")

    def answer_to_nothing(self) -> Message:
        """The network reports on a payment that we never made."""
        about = self.operator.transfer(now=utc_now())
        self.operator.say(self.operator.report(about, "ACSC", now=utc_now()))
        hear()
        return Message.objects.get(fault="answers_nothing")

    def garbage(self, content: bytes) -> Message:
        """Something that cannot be read."""
        self.operator.put(content)
        hear()
        return Message.objects.filter(status="faulty").latest("pk")


@pytest.fixture
def talk(db: None, tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def address(row: Conversation | Message, part: str = "") -> str:
    base = MESSAGES if isinstance(row, Message) else LIST
    return f"{base}{row.pk}/{part}"


def audited(prefix: str) -> list[str]:
    rows = AuditEvent.objects.filter(action__startswith=prefix).order_by("created_at")
    return list(rows.values_list("action", flat=True))
