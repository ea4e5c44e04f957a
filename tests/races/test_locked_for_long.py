"""What somebody keeps locked for too long, and payments of others in the same call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest
from django.db import connection, transaction

from balance import services as ledger
from networks.sandbox.bank import SandboxBank
from payments.models import Payment
from payments.transfer import PAYMENTS, PaymentTransfer
from tests.builders import NOW
from tests.payments import builders
from tests.races.together import together
from transfers import submission

pytestmark = [pytest.mark.django_db(transaction=True)]


def submit(_, transfer=PAYMENTS):
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")
    return submission.submit_due(transfer, now=NOW)


def test_a_balance_that_stays_locked_keeps_back_its_own_payments_only(acme, rival):
    for tenant in (acme, rival):
        builders.fund(tenant, 10_000)
    kept, fine = [[builders.pay(tenant, 100) for _ in range(2)] for tenant in (acme, rival)]

    with transaction.atomic():
        ledger.lock_row(tenant_id=acme.pk)
        assert together(submit, workers=1) == [4]

    by_id = {row.pk: (row.status, row.leased_until) for row in Payment.objects.all()}
    assert [by_id[row.pk] for row in fine] == [("processing", None)] * 2
    assert [by_id[row.pk] for row in kept] == [("created", None)] * 2


def test_a_row_that_stays_locked_keeps_back_its_own_answer_only(acme, connect):
    """Staff have it open while the network answers."""
    builders.fund(acme, 10_000)
    rows = [builders.pay(acme, 100) for _ in range(3)]
    is_asked, is_locked = Event(), Event()

    class Bank(SandboxBank):
        def submit_many(self, instructions, *, now):
            answers = super().submit_many(instructions, now=now)
            is_asked.set()
            assert is_locked.wait(10)
            return answers

    connect(Bank())
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(together, submit, workers=1)
        assert is_asked.wait(10)
        with transaction.atomic():
            Payment.objects.select_for_update().get(pk=rows[0].pk)
            is_locked.set()
            assert run.result() == [3]

    assert [Payment.objects.get(pk=row.pk).status for row in rows] == [
        "created",
        "processing",
        "processing",
    ]


def test_a_row_that_stays_locked_ends_no_run_that_broke(acme):
    builders.fund(acme, 10_000)
    locked, free = [builders.pay(acme, 100) for _ in range(2)]
    is_claimed, is_locked = Event(), Event()

    class Broken(PaymentTransfer):
        def refresh(self, rows, now):
            is_claimed.set()
            assert is_locked.wait(10)
            raise RuntimeError("a bug")

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(together, partial(submit, transfer=Broken()), workers=1)
        assert is_claimed.wait(10)
        with transaction.atomic():
            Payment.objects.select_for_update().get(pk=locked.pk)
            is_locked.set()
            assert run.result() == [2]

    by_id = {row.pk: row for row in Payment.objects.all()}
    assert by_id[free.pk].next_attempt_at == NOW + submission.RETRY_AFTER[0]
    assert by_id[free.pk].leased_until is None
    assert by_id[locked.pk].leased_until is not None
