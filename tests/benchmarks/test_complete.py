from __future__ import annotations

import json

import pytest

from balance import invariants
from benchmarks import backlog, complete, slow_bank, stack
from benchmarks.complete import Side
from benchmarks.errors import CannotMeasure
from benchmarks.load import Request, Turns
from benchmarks.stack import Checkout
from common.clock import utc_now
from common.ids import is_id
from funding.models import FundingTransaction
from funding.transfer import FUNDING
from networks.base import Accepted
from transfers import submission
from transfers.inbox import messages
from webhooks.models import WebhookDelivery, WebhookEvent

URL = "http://127.0.0.1:1/fast"


@pytest.fixture
def work(db, settings):
    settings.SANDBOX_PACE = "instant"
    work, _customers = backlog.prepare(2, URL)
    return work


def side(completed):
    return Side(Checkout(), add=lambda _count: None, completed=completed)


def test_copies_are_top_ups_like_any_other(work):
    work.add(5)

    fundings = FundingTransaction.objects.filter(status="reserved")
    assert fundings.count() == 7
    assert all(is_id(funding.pk, "ftx") for funding in fundings)
    told = {json.loads(bytes(event.body))["data"]["paymentId"] for event in _events()}
    assert told == {funding.pk for funding in fundings}
    assert all(json.loads(bytes(event.body))["id"] == event.pk for event in _events())
    assert not WebhookDelivery.objects.exists()
    assert invariants.check(now=utc_now(), full=True).findings == []


@pytest.mark.django_db(transaction=True)
def test_copies_are_completed_and_told_like_any_other(settings):
    settings.SANDBOX_PACE = "instant"
    work, _customers = backlog.prepare(2, URL)
    work.add(3)

    submission.submit_due(FUNDING, now=utc_now())
    messages.process(FUNDING, now=utc_now())

    assert FundingTransaction.objects.filter(status="completed").count() == 5
    assert WebhookDelivery.objects.count() == 10
    assert invariants.check(now=utc_now(), full=True).findings == []


def test_copies_may_be_of_another_network(work):
    work.add(3, network=slow_bank.NAME)

    assert complete._to_send() == 3


def test_the_slow_bank_accepts_each_of_a_call():
    from networks import registry

    bank = registry.get(slow_bank.NAME)

    assert bank.submit_many([], now=utc_now()) == {}
    assert bank.find("ftx_1") == Accepted(reference="slow ftx_1")


@pytest.mark.parametrize("looks", [[10, 110], [10, 10, 10, 110]])
def test_a_rate_counts_from_the_last_look_that_saw_nothing(looks):
    seen = iter(looks)

    rate = complete._rate(side(lambda: next(seen)), 110, seconds=30)

    assert 0 < rate <= 100 / complete.LOOK_SECONDS


def test_nothing_completed_is_no_figure():
    with pytest.raises(CannotMeasure, match="nothing was completed"):
        complete._rate(side(lambda: 7), 8, seconds=0.1)


def test_another_checkout_needs_packages(tmp_path):
    with pytest.raises(CannotMeasure, match=r"has no \.venv"):
        stack.other(tmp_path)


def test_requests_take_turns():
    turns = Turns([Request(method="GET", path="/x", key=key) for key in ("first", "second")])

    assert [b"first" in turns.raw() for _ in range(3)] == [True, False, True]


def _events():
    return WebhookEvent.objects.all()
