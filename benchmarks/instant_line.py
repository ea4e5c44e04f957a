"""A rail to a stand-in operator of FedNow for sandbox tenants, and a bare participant beside it,
which sends the same messages over the same HTTPS without the product."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.errors import CannotMeasure
from common.clock import utc_now
from desk import doers
from desk.rails.instant import acts
from networks import registry
from networks.base import Method
from networks.instant import rails
from networks.instant.iso import ids, writer
from networks.instant.iso.messages import Account, CreditTransfer
from networks.instant.iso.profiles import EASTERN, FEDNOW
from networks.instant.models import Conversation
from networks.instant.models.rails import ProfileName
from networks.instant.terms import Connection, RailTerms
from networks.instant.transport.https import HttpsSettings, HttpsTransport
from networks.instant.transport.identity import Identity
from networks.rails.models import SANDBOX, RailKind
from tenants.actors import SYSTEM
from transfers import route_changes

RAIL = "bench_fednow"
PAYEE = Account(routing_number="071000013", account_number="7734001", name="Benchmark Payee")
AMOUNT = 1_234
WHO, WHY = "benchmark", "a benchmark"
START_SECONDS = 30
FIRST_NUMBER = 10**12  # of a bare participant's messages, far above those of the product
_TAKEN = """
SELECT message_id, at FROM message
WHERE profile = 'fednow' AND direction = 'in' AND kind = 'pacs.008'
"""


@dataclass(frozen=True)
class Operator:
    """A running one. `known` is what it says of itself."""

    home: Path
    known: Mapping[str, Any]

    @property
    def mine(self) -> Mapping[str, Any]:
        """Who we are in FedNow."""
        found: Mapping[str, Any] = self.known["networks"]["fednow"]
        return found

    @property
    def certificate(self) -> str:
        return Path(self.known["certificate"]).read_text()

    @property
    def private_key(self) -> str:
        return Path(self.known["private_key"]).read_text()

    def taken(self) -> dict[str, datetime]:
        """When it took each payment of ours, by the message's id."""
        uri = f"file:{self.home / 'operator.sqlite3'}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as record:
            return {each: datetime.fromisoformat(at) for each, at in record.execute(_TAKEN)}


@contextmanager
def operator(name: str) -> Iterator[Operator]:
    """A new one for the block. Raises CannotMeasure."""
    home = Path(os.environ["BALLAST_RUN_DIR"]) / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    # A socket's address is short, so it is not in the folder.
    control = Path(os.environ["BALLAST_RUN_DIR"]) / "sockets" / f"{name}.sock"
    command = [sys.executable, "-m", "devstack.instant", "serve", f"--home={home}"]
    with processes.program([*command, f"--control={control}"], name=name):
        said = home / "connection.json"
        deadline = time.monotonic() + START_SECONDS
        while not said.exists():
            if time.monotonic() > deadline:
                raise CannotMeasure("the stand-in operator did not start")
            time.sleep(0.05)
        yield Operator(home, json.loads(said.read_text()))


def connect(there: Operator) -> None:
    """Lead instant payments of sandbox tenants to the operator."""
    now, doer = utc_now(), doers.operator(WHO)
    rail = acts.open_rail(
        name=RAIL, profile=ProfileName.FEDNOW, kind=RailKind.STAND_IN, doer=doer, now=now
    )
    terms = RailTerms(
        participant=there.mine["participant_id"],
        routing_number=there.mine["routing"],
        creditor_name="Benchmark",
        active=True,
        connection=Connection(base_url=there.mine["base_url"], pins=tuple(there.known["pins"])),
    )
    acts.change_alone(
        rail=rail, terms=terms, account=there.mine["account"], reason=WHY, doer=doer, now=now
    )
    acts.take_key(
        rail=RAIL,
        private_key=there.private_key,
        certificate=there.certificate,
        reason=WHY,
        doer=doer,
        now=now,
    )
    registry.look_again()
    route_changes.open_route(
        mode=SANDBOX, method=Method.RTP_CREDIT, rail=RAIL, reason=WHY, actor=SYSTEM, now=now
    )


def first_messages() -> dict[str, str]:
    """The id of the message that ordered each payment first, by the payment's id."""
    rows = Conversation.objects.filter(rail_id=RAIL).order_by("messages__id")
    orders = rows.filter(messages__name=CreditTransfer.kind)
    found: dict[str, str] = {}
    for payment, message in orders.values_list("instruction_id", "messages__message_id"):
        found.setdefault(payment, message)
    return found


class Bare:
    """A participant that has nothing but messages and a line. Threads share it."""

    def __init__(self, there: Operator) -> None:
        self._in_force = rails.current(RAIL)
        identity = Identity(
            certificate=there.certificate.encode(),
            private_key=there.private_key.encode(),
            pins=tuple(there.known["pins"]),
        )
        self._line = HttpsTransport(
            HttpsSettings(base_url=there.mine["base_url"], identity=identity)
        )
        self._numbers = itertools.count(FIRST_NUMBER)

    def pay(self) -> float:
        """Write one payment and hand it over; gives the seconds that this took. Raises Silent,
        NotTaken."""
        began, number = time.monotonic(), next(self._numbers)
        self._line.send(self._content(number), name=str(number))
        return time.monotonic() - began

    def close(self) -> None:
        self._line.close()

    def _content(self, number: int) -> bytes:
        now, terms = utc_now(), self._in_force.terms
        day = now.astimezone(EASTERN).date()
        named = ids.message_id(FEDNOW, participant=terms.participant, day=day, number=number)
        message = CreditTransfer(
            message_id=named,
            created_at=now,
            instruction_id=named,
            end_to_end_id=named,
            uetr=ids.uetr(named),
            amount=AMOUNT,
            settlement_date=FEDNOW.settlement_date(now),
            debtor=Account(
                routing_number=terms.routing_number,
                account_number=self._in_force.account,
                name=terms.creditor_name,
            ),
            creditor=PAYEE,
        )
        header = writer.header_of(
            message, sender=terms.participant, receiver=FEDNOW.operator, profile=FEDNOW
        )
        return writer.write(message, header, FEDNOW)
