"""The same top-up many times at once, and many workers on the same top-ups."""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, transaction

from balance import selectors as ledger
from common.clock import utc_now
from funding.models import FundingEvent, FundingLimit, FundingTransaction
from funding.services import auto_funding_config, sources
from funding.transfer import FUNDING
from networks.sandbox.models import SandboxInstruction
from tenants.actors import user
from tests.builders import ApiClient, make_auto_funding, make_key, make_source, make_tenant
from tests.funding.builders import top_up
from tests.races.together import rounds, together
from transfers import submission
from transfers.inbox import messages

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/api/v1/balance/topup"


def _act(acts, worker):
    """Each worker does another thing."""
    return acts[worker]()


@pytest.fixture
def tenant(db):
    return make_tenant()


def test_32_identical_requests_with_one_key_are_one_funding(tenant):
    key = make_key(tenant)
    body = {"amount": 100, "fundingSourceId": make_source(tenant).pk}

    answers = together(
        lambda _: ApiClient(key).post_json(PATH, body, **{"Idempotency-Key": "one"}), workers=32
    )

    codes = Counter(answer.status_code for answer in answers)
    assert set(codes) <= {201, 409}
    assert codes[201] >= 1
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert FundingTransaction.objects.count() == 1
    assert ledger.summary(tenant.pk).pending == 100


def test_16_requests_never_go_over_the_daily_limit(tenant):
    FundingLimit.objects.create(tenant=tenant, daily_max=500)
    key = make_key(tenant)
    body = {"amount": 100, "fundingSourceId": make_source(tenant).pk}

    answers = together(lambda _: ApiClient(key).post_json(PATH, body), workers=16)

    assert Counter(answer.status_code for answer in answers) == {201: 5, 422: 11}
    assert ledger.summary(tenant.pk).pending == 500


def test_8_workers_take_each_topup_through_once(tenant):
    source = make_source(tenant)
    now = utc_now()
    for _ in range(20):
        top_up(tenant, amount=100, source=source, now=now)

    def work(_):
        for _ in range(5):
            submission.submit_due(FUNDING, now=now)
            messages.process(FUNDING, now=now)

    together(work, workers=8)
    work(0)

    assert Counter(FundingTransaction.objects.values_list("status", flat=True)) == {"completed": 20}
    assert SandboxInstruction.objects.count() == 20
    assert FundingEvent.objects.count() == 20 * 4
    assert ledger.summary(tenant.pk).available == 2_000


@rounds(10)
def test_cancel_races_with_submission_and_one_wins(tenant, round_):
    key = make_key(tenant)
    funding = top_up(tenant, amount=100, now=utc_now())
    path = f"/api/v1/funding/transactions/{funding.pk}/cancel"
    acts = (
        lambda: submission.submit_due(FUNDING, now=utc_now()),
        lambda: ApiClient(key).post_json(path),
    )

    _, canceled = together(lambda number: acts[number](), workers=2)

    funding.refresh_from_db()
    was_canceled = canceled.status_code == 200
    assert funding.status == ("failed" if was_canceled else "pending")
    assert SandboxInstruction.objects.exists() is not was_canceled


def test_a_topup_beside_the_return_that_ends_its_authorization_is_never_debited(tenant):
    """It reads the account before the bank speaks, and is reserved after."""
    source = make_source(tenant)
    has_read, has_spoken = Event(), Event()

    def ask():
        with transaction.atomic():
            funding = top_up(tenant, source=source, now=utc_now())
            has_read.set()
            assert has_spoken.wait(30)
        return funding

    def speak():
        assert has_read.wait(30)
        sources.note_return(source=source, return_code="R07", now=utc_now())
        has_spoken.set()

    funding, _ = together(partial(_act, (ask, speak)), workers=2)
    submission.submit_due(FUNDING, now=utc_now())

    funding.refresh_from_db()
    assert (funding.status, funding.failure_code) == ("failed", "funding_source_not_authorized")
    assert not SandboxInstruction.objects.exists()
    assert ledger.summary(tenant.pk).pending == 0


def test_resuming_beside_removals_and_returns_of_the_account_never_deadlocks(db):
    """All of them lock the account and the balance, in the same order."""
    for _ in range(40):
        tenant = make_tenant()
        source = make_source(tenant)
        config = make_auto_funding(tenant, paused_reason="too_many_firings", source=source)
        sources.note_return(source=source, return_code="R07", now=utc_now())
        seen = auto_funding_config.standing_of(config, ended=source.authorization_ended_at)
        common: Any = {"tenant_id": tenant.pk, "actor": user("usr_dana"), "now": utc_now()}
        acts = (
            partial(auto_funding_config.resume, seen=seen, **common),
            partial(sources.remove, source_id=source.pk, **common),
            partial(sources.note_return, source=copy(source), return_code="R10", now=utc_now()),
            partial(auto_funding_config.configure, changes={"enabled": True}, **common),
        )

        outcomes = together(partial(_act, acts), workers=len(acts))

        assert not [each for each in outcomes if isinstance(each, OperationalError)]
