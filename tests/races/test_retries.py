"""A returned debit that many try again at once."""

from __future__ import annotations

from collections import Counter

import pytest

from balance import selectors as ledger
from common.clock import utc_now
from funding.errors import RetryNotPossible
from funding.models import FundingTransaction
from funding.services import retries
from funding.transfer import FUNDING
from networks.base import EventKind
from tenants.actors import user
from tests.builders import make_source, make_tenant
from tests.funding.builders import run_due, top_up
from tests.networks.scripted import ScriptedNetwork, message
from tests.races.together import rounds, together
from transfers import submission
from transfers.inbox import arrivals, messages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def first():
    tenant = make_tenant()
    now = utc_now()
    row = top_up(tenant, source=make_source(tenant, account_number="10001"), amount=100, now=now)
    run_due(now=now, rounds=8)
    row.refresh_from_db()
    assert row.returned
    return row


def start(first):
    return retries.start(
        tenant_id=first.tenant_id,
        mode="sandbox",
        funding_id=first.pk,
        actor=user("usr_dana"),
        now=utc_now(),
    )


def test_eight_clicks_try_once(first):
    answers = together(lambda _: start(first), workers=8)

    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {FundingTransaction: 1, RetryNotPossible: 7}
    assert ledger.summary(first.tenant_id).pending == 100


def test_the_rule_and_people_try_once(first):
    retries.set_rule(
        tenant_id=first.tenant_id, times=2, after_days=1, actor=user("usr_dana"), now=utc_now()
    )

    def act(worker):
        if worker % 2:
            return start(first)
        return retries._start_due(first.tenant_id, "sandbox", first.pk, now=utc_now())

    answers = together(act, workers=8)

    began = [each for each in answers if each is True or isinstance(each, FundingTransaction)]
    assert len(began) == 1
    assert FundingTransaction.objects.filter(retry_of=first).count() == 1


@rounds(4)
def test_a_retry_meets_the_late_return_of_the_one_before(first, round_):
    """The one before was paid: while it is, nothing is tried again; once it came back, one is."""
    before = start(first)
    submission.submit_due(FUNDING, now=utc_now())
    for number, kind in enumerate((EventKind.ACCEPTED, EventKind.FINAL)):
        hear(before, kind, number)
    before.refresh_from_db()
    assert before.status == "completed"
    said = message(before, EventKind.RETURNED, id=f"late-{before.pk}", code="R01")
    arrivals.collect(network=ScriptedNetwork(said), id_prefix="ftx_", now=utc_now())

    acts = [lambda: messages.apply_new(FUNDING, now=utc_now()), *(3 * [lambda: start(first)])]
    answers = together(lambda worker: acts[worker](), workers=4)

    assert answers[0] == 1
    began = [each for each in answers[1:] if isinstance(each, FundingTransaction)]
    refused = [each for each in answers[1:] if isinstance(each, RetryNotPossible)]
    assert (len(began) <= 1, len(began) + len(refused)) == (True, 3)
    before.refresh_from_db()
    assert (before.status, before.returned) == ("failed", True)
    assert ledger.summary(first.tenant_id).pending == 100 * len(began)
    assert FundingTransaction.objects.filter(retry_of=first).count() == 1 + len(began)


def hear(row, kind, number):
    said = message(row, kind, id=f"said-{row.pk}-{number}")
    arrivals.collect(network=ScriptedNetwork(said), id_prefix="ftx_", now=utc_now())
    messages.apply_new(FUNDING, now=utc_now())
