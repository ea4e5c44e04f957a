"""A balance that somebody keeps locked for too long, and payments of others in the same call."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from balance import services as ledger
from payments.models import Payment
from payments.transfer import PAYMENTS
from tests.builders import NOW
from tests.payments import builders
from tests.races.together import together
from transfers import submission

pytestmark = [pytest.mark.django_db(transaction=True)]


def test_a_balance_that_stays_locked_keeps_back_its_own_payments_only(acme, rival):
    for tenant in (acme, rival):
        builders.fund(tenant, 10_000)
    kept, fine = [[builders.pay(tenant, 100) for _ in range(2)] for tenant in (acme, rival)]

    def submit(_):
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        return submission.submit_due(PAYMENTS, now=NOW)

    with transaction.atomic():
        ledger.lock_row(tenant_id=acme.pk)
        assert together(submit, workers=1) == [4]

    by_id = {row.pk: (row.status, row.leased_until) for row in Payment.objects.all()}
    assert [by_id[row.pk] for row in fine] == [("processing", None)] * 2
    assert [by_id[row.pk] for row in kept] == [("created", None)] * 2
