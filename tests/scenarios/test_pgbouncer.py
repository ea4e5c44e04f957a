"""The product behind pgbouncer in transaction mode: requests of two tenants share few connections
of the server, and neither ever sees a row of the other's (decision 0167).

`apt-get install pgbouncer` brings what this needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from balance import invariants
from common.clock import utc_now
from funding.models import FundingTransaction
from payments.models import Payment
from tenants.models import Tenant
from tests.builders import make_key, make_source
from tests.database import owner
from tests.payments.builders import fund
from tests.scenarios.product import running, wait_until
from tests.servers import free_port

PGBOUNCER = shutil.which("pgbouncer") or ""
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.skipif(not PGBOUNCER, reason="pgbouncer is not installed"),
]

SERVERS = 3  # connections of the server for each role
CLIENTS = 4  # of each tenant
ROUNDS = 50  # of each client: five requests
ROUNDS_OF_ERRORS = 10
TRIES_MAX = 20
# What tells a tenant's rows from the other's in any list.
CENTS = {"Acme": 1_111, "Rival": 2_222}
_CONFIGURATION = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr =
listen_port = {listen}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = 200
ignore_startup_parameters = options,extra_float_digits
{user}
"""


@contextmanager
def pooling() -> Iterator[str]:
    """Where processes connect to the test's database through a pooler."""
    connection.ensure_connection()
    info = connection.connection.info
    # Not pytest's folder: a unix socket's path has at most 107 bytes, and others must enter it.
    with tempfile.TemporaryDirectory(prefix="bouncer") as name:
        folder, port = Path(name), free_port()
        folder.chmod(0o777)
        roles = (settings.DATABASE_APPLICATION_ROLE, settings.DATABASE_API["USER"])
        (folder / "users").write_text("".join(f'"{role}" ""\n' for role in roles))
        configured = _CONFIGURATION.format(
            host=info.host,
            port=info.port,
            listen=port,
            folder=folder,
            servers=SERVERS,
            user="user = nobody" if os.getuid() == 0 else "",  # it refuses to be root
        )
        (folder / "pgbouncer.ini").write_text(configured)
        process = subprocess.Popen(
            [PGBOUNCER, "--quiet", str(folder / "pgbouncer.ini")], stdin=subprocess.DEVNULL
        )
        address = f"{owner.address().partition('?')[0]}?host={folder}&port={port}"
        try:
            wait_until(lambda: _answers(address), seconds=30)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)


def _answers(address: str) -> bool:
    try:
        psycopg.connect(address, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@dataclass
class Client:
    """A program of one tenant, which notes whatever is not as it should be."""

    base_url: str
    tenant: Tenant
    key: str
    source_id: str
    number: int
    rounds: int
    given_up: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    funded: set[str] = field(default_factory=set)
    paid: set[str] = field(default_factory=set)
    wrong: list[object] = field(default_factory=list)

    def work(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        with httpx.Client(base_url=self.base_url, headers=headers, timeout=60) as http:
            for turn in range(self.rounds):
                try:
                    self._round(http, turn)
                except Exception as error:  # a thread's own error would pass unseen
                    self.wrong.append(repr(error))
                    return

    def _round(self, http: httpx.Client, turn: int) -> None:
        cents = CENTS[self.tenant.name]
        source = {"amount": cents, "fundingSourceId": self.source_id, "fundingMethod": "ach_debit"}
        account = {
            "accountNumber": f"0009{cents}{self.number}",
            "routingNumber": "021000021",
            "accountHolderName": self.tenant.name,
            "accountHolderType": "business",
            "accountType": "checking",
        }
        payment = {"amount": cents, "recipient": account}
        named = f"{self.number}-{turn}"
        if told := self._ask(http, "POST", "balance/topup", source, f"t{named}"):
            self.funded.add(told["id"])
        if told := self._ask(http, "POST", "payments", payment, f"p{named}"):
            self.paid.add(told["id"])
        for path in ("funding/transactions", "payments", "balance/transactions"):
            rows = self._ask(http, "GET", f"{path}?limit=50") or []
            self.wrong += [row for row in rows if row["amount"] not in (cents, MUCH)]
            if not rows and not self.given_up:
                self.wrong.append(f"{path} is empty")

    def _ask(
        self, http: httpx.Client, method: str, path: str, body: Any = None, key: str = ""
    ) -> Any:
        """The data of the answer, asked for again where it was not to be had; None in the end."""
        for _ in range(TRIES_MAX):
            headers = {"Idempotency-Key": key} if key else {}
            try:
                answer = http.request(method, f"/api/v1/{path}", json=body, headers=headers)
            except httpx.RemoteProtocolError:  # the server let a connection go that nobody used
                continue
            self.answers[answer.status_code] += 1
            if answer.status_code in (200, 201):
                return answer.json()["data"]
            if answer.status_code not in (409, 503):
                raise AssertionError(answer.text)
        self.given_up += 1
        return None


MUCH = 1_000_000_00
UNLIMITED = dict.fromkeys(("API_READS_PER_SECOND", "API_WRITES_PER_SECOND"), "10000")


@pytest.fixture
def work(acme, rival, tmp_path, port):
    """Lets programs of both tenants work at once, and judges what they were told by what is stored;
    returns how often they were answered what."""

    def working(*, rounds: int, **environment: str) -> Counter[int]:
        names = {}
        for tenant in (acme, rival):
            fund(tenant, MUCH, now=utc_now())
            names[tenant] = make_key(tenant), make_source(tenant, now=utc_now()).pk
        with (
            pooling() as address,
            running(
                tmp_path, port, "valkey", "web", DATABASE_URL=address, **UNLIMITED, **environment
            ) as product,
        ):
            clients = [
                Client(product.base_url, tenant, *names[tenant], number, rounds)
                for number in range(CLIENTS)
                for tenant in (acme, rival)
            ]
            _run(clients)
        _judge(clients)
        return sum((client.answers for client in clients), Counter[int]())

    return working


def _run(clients: Sequence[Client]) -> None:
    threads = [threading.Thread(target=client.work) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _judge(clients: Sequence[Client]) -> None:
    assert [client.wrong for client in clients if client.wrong] == []
    for tenant in {client.tenant for client in clients}:
        mine = [client for client in clients if client.tenant == tenant]
        fundings = FundingTransaction.objects.filter(tenant=tenant).values_list("pk", flat=True)
        payments = Payment.objects.filter(tenant=tenant).values_list("pk", flat=True)
        # What nobody was told of is there only if somebody gave up asking.
        unknown = sum(client.given_up for client in mine)
        for stored, told in (
            (set(fundings), set().union(*(client.funded for client in mine))),
            (set(payments), set().union(*(client.paid for client in mine))),
        ):
            assert told
            assert told <= stored
            assert len(stored) <= len(told) + unknown
    assert invariants.check(now=utc_now(), full=True).findings == []


def test_answers_all_without_prepared_statements(work):
    answers = work(rounds=ROUNDS, DATABASE_FAST_PATH="False")

    each = ROUNDS * CLIENTS * 2
    assert answers == {200: 3 * each, 201: 2 * each}


def test_shows_and_stores_nothing_wrong_with_them(work):
    """pgbouncer before 1.21 does not know them: many calls are a 503, some of them each time."""
    answers = work(rounds=ROUNDS_OF_ERRORS, DATABASE_FAST_PATH="True")

    assert answers.keys() <= {200, 201, 503}
    assert min(answers[200], answers[201]) > 0
