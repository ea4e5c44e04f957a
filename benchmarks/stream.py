"""Top-ups of many customers, or other orders, at a steady pace, and what became of them."""

from __future__ import annotations

import http.client
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks import database
from benchmarks.errors import CannotMeasure
from benchmarks.seeding import Customer

CLIENTS = 8
ANSWER_SECONDS = 20
_COMPLETED = "SELECT count(*) FROM funding_fundingtransaction WHERE status = 'completed'"
_OPEN = """
SELECT (SELECT count(*) FROM funding_fundingtransaction WHERE status IN
        ('reserved', 'pending', 'in_transit'))
    + (SELECT count(*) FROM webhooks_webhookdelivery WHERE status = 'pending')
"""


def top_up(connection: http.client.HTTPConnection, customer: Customer) -> None:
    """Ask for a top-up. Raises CannotMeasure when it is refused."""
    wanted = {
        "amount": 1234,
        "fundingSourceId": customer.source.pk,
        "fundingMethod": "ach_debit",
        "description": "x",
    }
    post(connection, customer, "/api/v1/balance/topup", wanted)


@dataclass
class Stream:
    """Clients that `ask` for something, `a_second` together, each of the customers in turn."""

    port: int
    customers: Sequence[Customer]
    a_second: float
    ask: Callable[[http.client.HTTPConnection, Customer], None] = top_up
    accepted: int = 0
    _problems: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = itertools.count()
        self._over = threading.Event()
        self._counting = threading.Lock()

    @contextmanager
    def running(self) -> Iterator[Stream]:
        """Raises CannotMeasure at the end where a request was not accepted."""
        threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        self._began = time.monotonic()
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
        if self._problems:
            raise CannotMeasure(f"an order failed: {self._problems[0]}")

    def _ask(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        try:
            while not self._problems:
                number = next(self._numbers)
                wait = self._began + number / self.a_second - time.monotonic()
                if self._over.wait(max(wait, 0)):
                    break
                self.ask(connection, self.customers[number % len(self.customers)])
                with self._counting:
                    self.accepted += 1
        except (OSError, http.client.HTTPException, CannotMeasure) as error:
            self._problems.append(error)
        finally:
            connection.close()


def ask_once(port: int, customer: Customer) -> None:
    """Ask for one top-up. Raises CannotMeasure when it is refused."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)) as asked:
        top_up(asked, customer)


def post(
    connection: http.client.HTTPConnection, customer: Customer, path: str, wanted: Mapping[str, Any]
) -> Any:
    """What the API answers to something that it creates. Raises CannotMeasure when it refuses."""
    headers = {
        "Authorization": f"Bearer {customer.key}",
        "Content-Type": "application/json",
        "Idempotency-Key": secrets.token_hex(12),
    }
    connection.request("POST", path, json.dumps(wanted), headers)
    answer = connection.getresponse()
    said = answer.read()
    if answer.status != 201:
        raise CannotMeasure(f"{path} was answered {answer.status}: {said[:300]!r}")
    return json.loads(said or "null")


def completed() -> int:
    """How many top-ups are completed."""
    return database.scalar(_COMPLETED)


def await_end(*, seconds: float) -> None:
    """Wait until every top-up is over and every webhook sent. Raises CannotMeasure."""
    end = time.monotonic() + seconds
    while left := database.scalar(_OPEN):
        if time.monotonic() > end:
            raise CannotMeasure(f"{left} top-ups and deliveries were not over in {seconds:.0f} s")
        time.sleep(0.2)
