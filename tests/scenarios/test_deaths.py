"""Kill what can be killed in the middle of 300 top-ups; nothing may be lost or doubled."""

from __future__ import annotations

import contextlib
import random
import time

import pytest
from ballast_client import calls
from django.core.management import call_command

from balance import selectors as ledger
from common.clock import utc_now
from funding.models import FundingTransaction
from funding.states import FundingStatus
from networks.sandbox.models import SandboxInstruction
from tests.builders import make_source, make_tenant
from tests.scenarios.customer import Customer
from tests.scenarios.product import running, supervised, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

TOPUPS = 300
KILLS = 10
SOON = 180  # seconds: a worker starts, leases of 20 s end, sweeps find the rows
PROCESSES = ("valkey", "web", "worker", "beat")
FINAL = (FundingStatus.COMPLETED, FundingStatus.FAILED)


@contextlib.contextmanager
def customer_of(product):
    """A tenant with a bank account, whose program sends top-ups of 100."""
    tenant = make_tenant()
    body = {"amount": 100, "fundingSourceId": make_source(tenant, now=utc_now()).pk}
    with Customer(product.base_url, tenant, path="/balance/topup", body=lambda _: body) as customer:
        yield customer


def all_final():
    unfinished = FundingTransaction.objects.exclude(status__in=FINAL).exists()
    return not unfinished and FundingTransaction.objects.count() == TOPUPS


def assert_nothing_lost_or_doubled(customer):
    assert 500 not in customer.answers
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

        wait_until(all_final, seconds=SOON)

    assert_nothing_lost_or_doubled(customer)


def test_losing_valkey_for_a_minute(tmp_path, port):
    with running(tmp_path, port, *PROCESSES) as product, customer_of(product) as customer:
        sender = customer.send(TOPUPS)
        time.sleep(3)
        product.kill("valkey")  # with everything it held: it keeps no file
        gone_at = time.monotonic()
        sender.join()
        product.revive()
        summary = customer.ballast.respond(calls.balance_summary())
        time.sleep(max(0, 60 - (time.monotonic() - gone_at)))
        product.start("valkey")

        wait_until(supervised(product, all_final), seconds=SOON)

    assert summary.status_code == 200
    assert set(customer.answers) <= {200, 201, 429}
    assert_nothing_lost_or_doubled(customer)
