"""An operator as a process of its own, and a participant that speaks to it by HTTPS with the
product's codec: what one writes, the other must read as it was meant."""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from devstack.instant import client
from devstack.paths import ROOT
from networks.instant.iso import ids, reader, writer
from networks.instant.iso.messages import (
    Account,
    CreditTransfer,
    Message,
    RequestForPayment,
    StatusReport,
)
from networks.instant.iso.profiles import EASTERN, PROFILES, Profile

WAIT_SECONDS = 30
BANK = "021000021"
M = TypeVar("M")


class Line:
    """HTTPS with the participant's certificate, to a server that the authority vouches for."""

    def __init__(self, known: dict[str, Any], base_url: str) -> None:
        self._known = known
        self._host, _, self._base = base_url.removeprefix("https://").partition("/")

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        context = ssl.create_default_context(cafile=self._known["authority"])
        context.load_cert_chain(self._known["certificate"], self._known["private_key"])
        line = http.client.HTTPSConnection(self._host, context=context, timeout=WAIT_SECONDS)
        with contextlib.closing(line):
            line.request(method, f"/{self._base}/{path}", body=body)
            answer = line.getresponse()
            return answer.status, answer.read()


class Participant:
    """We, in one network."""

    def __init__(self, operator: Operator, profile: Profile) -> None:
        self.operator, self.profile = operator, profile
        self._numbers = itertools.count(time.monotonic_ns() % 10**9)

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def known(self) -> dict[str, Any]:
        found: dict[str, Any] = client.connection(self.operator.home)["networks"][self.name]
        return found

    @property
    def line(self) -> Line:
        return Line(client.connection(self.operator.home), self.known["base_url"])

    @property
    def account(self) -> Account:
        return Account(
            routing_number=self.known["routing"],
            account_number=self.known["account"],
            name="BALLAST",
        )

    def now(self) -> datetime:
        return self.operator.now().replace(microsecond=0)

    def new_ids(self) -> dict[str, Any]:
        """The message's id and the instruction's, and when they were made."""
        now, number = self.now(), next(self._numbers)
        day = now.astimezone(EASTERN).date()
        about = {"participant": self.known["participant_id"], "day": day, "number": number}
        return {
            "message_id": ids.message_id(self.profile, **about),
            "instruction_id": ids.instruction_id(self.profile, **about),
            "created_at": now,
        }

    def transfer(self, account: str = "7770001", amount: int = 12_345, **fields: Any) -> Any:
        """A credit transfer of ours to an account."""
        made = self.new_ids()
        is_rtp = self.name == "rtp"
        return CreditTransfer(
            **{
                **made,
                "end_to_end_id": made["instruction_id"],
                "transaction_id": made["instruction_id"] if is_rtp else "",
                "amount": amount,
                "settlement_date": made["created_at"].astimezone(EASTERN).date(),
                "debtor": self.account,
                "creditor": Account(routing_number=BANK, account_number=account, name="ANN LEE"),
                **fields,
            }
        )

    def request(self, account: str = "7770001", amount: int = 12_345, **fields: Any) -> Any:
        """A request for payment of ours to an account."""
        made = self.new_ids()
        return RequestForPayment(
            **{
                **made,
                "end_to_end_id": made["instruction_id"],
                "amount": amount,
                "debtor": Account(routing_number=BANK, account_number=account, name="ANN LEE"),
                "creditor": self.account,
                "execute_at": made["created_at"],
                "expires_at": made["created_at"] + timedelta(hours=1),
                **fields,
            }
        )

    def content(self, message: Message) -> bytes:
        known = self.known
        header = writer.header_of(
            message,
            sender=known["participant_id"],
            receiver=known["operator_id"],
            profile=self.profile,
        )
        return writer.write(message, header, self.profile)

    def send(self, message: Message) -> tuple[int, bytes]:
        return self.post(self.content(message))

    def post(self, content: bytes) -> tuple[int, bytes]:
        return self.line.ask("POST", "messages", content)

    def deliveries(self, wait: float = 0) -> list[dict[str, Any]]:
        """What waits for us, unacknowledged."""
        status, body = self.line.ask("GET", f"messages?wait={wait}")
        assert status == 200
        found: list[dict[str, Any]] = json.loads(body)["messages"]
        return found

    def acknowledge(self, delivered: list[dict[str, Any]]) -> None:
        body = json.dumps({"ids": [each["id"] for each in delivered]}).encode()
        assert self.line.ask("POST", "messages/acknowledge", body)[0] == 200

    def fetch(self, wait: float = 0) -> list[Message]:
        """Read and acknowledge what waits for us."""
        delivered = self.deliveries(wait)
        self.acknowledge(delivered)
        contents = [base64.b64decode(each["content"]) for each in delivered]
        return [reader.read(content, self.profile).message for content in contents]

    def one(self, kind: type[M], wait: float = 5) -> M:
        """The only message that waits for us, of this kind."""
        (message,) = self.fetch(wait)
        assert isinstance(message, kind)
        return message

    def accept(self, payment: CreditTransfer, status: str = "ACTC", reason: Any = None) -> None:
        """Answer a payment to us."""
        made = self.new_ids()
        said: dict[str, Any] = {} if reason is None else {"reason": reason}
        report = StatusReport(
            message_id=made["message_id"],
            created_at=made["created_at"],
            original_message_id=payment.message_id,
            original_message_name="pacs.008.001.08",
            original_created_at=payment.created_at,
            original_instruction_id=payment.instruction_id,
            original_end_to_end_id=payment.end_to_end_id,
            status=status,
            accepted_at=made["created_at"],
            **said,
        )
        assert self.send(report)[0] == 202

    @property
    def position(self) -> int:
        """Ours, in cents."""
        positions = self.operator.ask("positions")[self.name]
        assert sum(positions.values()) % 100_000_000 == 0, "money is made or lost"
        ours: int = positions[self.known["routing"]]
        return ours


class Operator:
    """A running operator."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None
        self.rtp = Participant(self, PROFILES["rtp"])
        self.fednow = Participant(self, PROFILES["fednow"])

    def start(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "devstack.instant", "serve", "--home", str(self.home)]
        (self.home / client.CONNECTION).unlink(missing_ok=True)
        with (self.home.parent / "operator.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], cwd=ROOT, stdout=log, stderr=log
            )
        self.wait_for(lambda: (self.home / client.CONNECTION).exists())

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)

    def wait_for(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_true():
            assert self.process is not None
            assert self.process.poll() is None, (self.home.parent / "operator.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def ask(self, command: str, **arguments: Any) -> Any:
        return client.call(self.home, command, **arguments)

    def now(self) -> datetime:
        return datetime.fromisoformat(self.ask("status")["now"]).astimezone(UTC)

    def pass_seconds(self, seconds: float) -> None:
        self.ask("clock", seconds=seconds)


@contextlib.contextmanager
def an_operator(*arguments: str) -> Iterator[Operator]:
    with tempfile.TemporaryDirectory(prefix="operator-") as folder:
        operator = Operator(Path(folder) / "home")
        operator.home.mkdir()
        operator.start(*arguments)
        try:
            yield operator
        finally:
            sys.stdout.write((operator.home.parent / "operator.log").read_text())
            if operator.process is not None and operator.process.poll() is None:
                operator.end()


@pytest.fixture
def operator() -> Iterator[Operator]:
    """An operator of its own for one test."""
    with an_operator() as running:
        yield running


@pytest.fixture(scope="module")
def shared() -> Iterator[Operator]:
    """One operator for the tests of a module that do not mind each other."""
    with an_operator() as running:
        yield running


@pytest.fixture(params=["rtp", "fednow"])
def we(request: pytest.FixtureRequest, shared: Operator) -> Participant:
    """The participant in each of the two networks, with nothing waiting for it."""
    participant: Participant = getattr(shared, request.param)
    shared.pass_seconds(120)  # what other tests left unanswered is over
    participant.fetch()
    return participant
