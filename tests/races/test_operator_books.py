"""The same line of the operator written by many at once: it is there once, and says one thing."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from django.db import transaction

from balance import services as ledger
from balance.errors import PostingConflict
from balance.models import OperatorLine
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from common.clock import utc_now
from tests.races.together import together, wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 16


def line(tenant: Any, amount: int) -> Booking:
    return Booking(Step.IN_SETTLED, amount, "ach", "funding_transaction", "ftx_1", tenant.pk)


def amounts() -> list[int]:
    return list(OperatorLine.objects.values_list("amount", flat=True))


def test_the_same_line_asked_for_by_many_is_one(acme):
    results = together(lambda _: ledger.book([line(acme, 100)], now=utc_now()), workers=WORKERS)

    assert results == [None] * WORKERS
    assert amounts() == [100]


def test_of_several_amounts_the_first_one_stays(acme):
    def book(worker):
        ledger.book([line(acme, 100 + worker)], now=utc_now())

    results = together(book, workers=WORKERS)

    ((winner, _),) = [each for each in enumerate(results) if each[1] is None]
    refused = [result for result in results if result is not None]
    assert amounts() == [100 + winner]
    assert {type(result) for result in refused} == {PostingConflict}


@pytest.mark.parametrize("is_undone", [False, True])
def test_who_waits_for_another_transaction_sees_what_became_of_it(acme, is_undone):
    written = Event()

    def book(worker):
        if worker:
            assert written.wait(30)
            return ledger.book([line(acme, 200)], now=utc_now())
        with transaction.atomic():
            ledger.book([line(acme, 100)], now=utc_now())
            written.set()
            wait_for_a_lock()
            transaction.set_rollback(is_undone)
        return None

    first, second = together(book, workers=2)

    assert first is None
    assert type(second) is (type(None) if is_undone else PostingConflict)
    assert amounts() == ([200] if is_undone else [100])
