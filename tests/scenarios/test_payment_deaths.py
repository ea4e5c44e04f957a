"""Kill workers, and lose Valkey, in the middle of 300 payments that wait for their money."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest
from django.core.management import call_command

from common.clock import utc_now
from networks.sandbox.models import SandboxInstruction
from payments.models import Payment
from tests.builders import make_tenant
from tests.payments.builders import fund, funds_of
from tests.scenarios.customer import Customer
from tests.scenarios.product import running, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

PAYMENTS = 300
KILLS = 10
SOON = 180  # seconds: a worker starts, leases of 20 s end, sweeps find the rows
# By turns: four that arrive, one that comes back after completion, one that RTP rejects.
NUMBERS = ("123456", "123456", "20002", "123456", "40004", "123456")
ENDS = Counter({"completed": 200, "returned": 50, "failed": 50})


def body(number):
    account_number = NUMBERS[number % len(NUMBERS)]
    return {
        "amount": 100,
        "method": "rtp" if account_number == "40004" else "ach_credit",
        "waitForFunds": True,
        "recipient": {
            "accountNumber": account_number,
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        },
    }


def ends():
    return Counter(Payment.objects.values_list("status", flat=True))


def test_no_payment_is_lost_or_sent_twice(tmp_path, port):
    tenant = make_tenant()
    with (
        running(tmp_path, port, "valkey", "web", "worker", "beat") as product,
        Customer(product.base_url, tenant, path="/payments", body=body) as customer,
    ):
        sender = customer.send(PAYMENTS)
        for number in range(KILLS):
            fund(tenant, PAYMENTS * 100 // KILLS, now=utc_now())
            time.sleep(random.uniform(0.5, 3))
            product.kill("worker")
            if number == KILLS // 2:
                product.kill("valkey")  # with every wake-up it held
                product.start("valkey")
            product.start("worker")
        sender.join()

        wait_until(lambda: ends() == ENDS, seconds=SOON)

    sent = set(SandboxInstruction.objects.values_list("external_id", flat=True))
    assert sent == set(Payment.objects.values_list("pk", flat=True))
    assert funds_of(tenant) == (100 * (ENDS["returned"] + ENDS["failed"]), 0)
    call_command("check_ledger", "--full")
