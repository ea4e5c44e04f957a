"""Kill what can be killed in the middle of 300 top-ups; nothing may be lost or doubled."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import Counter

import httpx
import pytest
from django.core.management import call_command

from balance import selectors as ledger
from funding.models import FundingTransaction
from funding.states import FundingStatus
from networks.sandbox.models import SandboxInstruction
from tests.builders import make_key, make_source, make_tenant
from tests.scenarios.product import running, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(400)]

TOPUPS = 300
KILLS = 10
PROCESSES = ("valkey", "web", "worker", "beat")
FINAL = (FundingStatus.COMPLETED, FundingStatus.FAILED)


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Customer:
    """A tenant whose program sends top-ups over HTTP and repeats each until it is answered."""

    def __init__(self, base_url):
        self.tenant = make_tenant()
        self.source = make_source(self.tenant)
        self.http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {make_key(self.tenant)}"},
            timeout=10,
        )
        self.answers: Counter[int] = Counter()

    def top_up(self, number):
        body = {"amount": 100, "fundingSourceId": self.source.pk}
        headers = {"Idempotency-Key": f"top-up-{number}"}
        while True:
            response = self.http.post("/api/v1/balance/topup", json=body, headers=headers)
            self.answers[response.status_code] += 1
            if response.status_code == 201:
                return
            assert response.status_code in {409, 429, 503}, response.text
            time.sleep(0.2)

    def send(self, count):
        sender = threading.Thread(target=lambda: [self.top_up(n) for n in range(count)])
        sender.start()
        return sender


@contextlib.contextmanager
def customer_of(product):
    customer = Customer(product.base_url)
    with customer.http:
        yield customer


def all_final():
    unfinished = FundingTransaction.objects.exclude(status__in=FINAL).exists()
    return not unfinished and FundingTransaction.objects.count() == TOPUPS


def assert_nothing_lost_or_doubled(customer):
    assert set(FundingTransaction.objects.values_list("status", flat=True)) == {"completed"}
    assert FundingTransaction.objects.count() == TOPUPS
    debited = set(SandboxInstruction.objects.values_list("external_id", flat=True))
    assert debited == set(FundingTransaction.objects.values_list("pk", flat=True))
    funds = ledger.summary(customer.tenant.pk)
    assert (funds.available, funds.pending) == (TOPUPS * 100, 0)
    call_command("check_ledger", "--full")


def test_killing_the_worker_ten_times(tmp_path, port):
    with running(tmp_path, port, *PROCESSES) as product, customer_of(product) as customer:
        sender = customer.send(TOPUPS)
        for _ in range(KILLS):
            time.sleep(random.uniform(0.5, 3))
            product.kill("worker")
            product.start("worker")
        sender.join()

        took = wait_until(all_final, seconds=60)

    assert took < 60
    assert_nothing_lost_or_doubled(customer)


def test_losing_valkey_for_a_minute(tmp_path, port):
    with running(tmp_path, port, *PROCESSES) as product, customer_of(product) as customer:
        sender = customer.send(TOPUPS)
        time.sleep(3)
        product.kill("valkey")  # with everything it held: it keeps no file
        gone_at = time.monotonic()
        sender.join()
        summary = customer.http.get("/api/v1/balance/summary")
        time.sleep(max(0, 60 - (time.monotonic() - gone_at)))
        product.start("valkey")

        wait_until(all_final, seconds=90)

    assert summary.status_code == 200
    assert set(customer.answers) <= {201, 429}
    assert_nothing_lost_or_doubled(customer)
