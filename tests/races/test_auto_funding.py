"""Auto-funding decided by many at once: one automatic funding, and nobody waits crosswise."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import transaction

from approvals import answers, links
from balance import selectors as balances
from balance import services as ledger
from common.errors import DomainError
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    Confirmation,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import (
    approval_sweeps,
    auto_funding,
    auto_funding_config,
    sources,
    topups,
)
from funding.services.approval_policy import POLICY
from funding.services.lifecycle import TopUp
from funding.states import IN_FLIGHT
from tenants.actors import SYSTEM
from tests.balance.builders import balance_of, fund, movement
from tests.builders import NOW, make_auto_funding, make_source, make_tenant
from tests.races.together import rounds, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant(db):
    return make_tenant()


@pytest.fixture
def source(tenant):
    return make_source(tenant)


def automatic():
    return FundingTransaction.objects.filter(trigger=Trigger.AUTO_FUNDING)


def unforeseen(outcomes, log):
    """What went wrong that nobody anticipated, raised or logged."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    raised = [error for error in errors if not isinstance(error, DomainError)]
    return raised + [line for line in log.lines if line["level"] == "error"]


def test_100_debits_through_the_threshold_and_3_sweeps_are_one_funding(tenant, source, log):
    make_auto_funding(tenant, low_balance_threshold=5_000, funding_amount=100_000)
    fund(tenant, 10_000)

    def act(worker):
        if worker >= 20:
            return [auto_funding.sweep(now=NOW) for _ in range(20)]
        return [ledger.debit(**movement(tenant, 100)) for _ in range(5)]

    outcomes = together(act, workers=23)

    assert unforeseen(outcomes, log) == []
    assert automatic().count() == 1
    assert balance_of(tenant) == (0, 100_000, 0)
    assert AutoFundingDecision.objects.filter(outcome="fired").count() == 1


def test_24_sweeps_of_many_tenants_fire_once_for_each(source):
    tenants = [make_tenant(name=f"Tenant {number}") for number in range(10)]
    for each in tenants:
        make_source(each)
        make_auto_funding(each)

    fired = together(lambda _: auto_funding.sweep(now=NOW), workers=24)

    assert sum(fired) == 10
    assert set(Counter(automatic().values_list("tenant", flat=True)).values()) == {1}


@rounds(10)
def test_a_firing_and_a_removal_of_its_source_never_wait_for_each_other(
    tenant, source, round_, log
):
    make_auto_funding(tenant)
    fund(tenant, 10_000)

    def act(worker):
        if worker % 2:
            return ledger.debit(**movement(tenant, 10))
        return sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

    outcomes = together(act, workers=8)

    assert unforeseen(outcomes, log) == []
    is_removed = FundingSource.objects.get().status == "removed"
    assert is_removed is not automatic().exists()
    if is_removed:
        assert AutoFundingConfig.objects.get().paused_reason == "funding_source_removed"


def test_top_ups_debits_and_a_removal_of_the_source_never_deadlock(tenant, source, log):
    """Each takes the source and the balance row in its own way."""
    make_auto_funding(tenant, low_balance_threshold=10**9, funding_amount=1)
    fund(tenant, 10_000)

    def act(worker):
        if worker == 0:
            return sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=SYSTEM, now=NOW)
        if worker % 2:
            return ledger.debit(**movement(tenant, 10))
        return topups.request(
            tenant_id=tenant.pk,
            mode=tenant.mode,
            topup=TopUp(source_id=source.pk, amount=100),
            actor=SYSTEM,
            now=NOW,
        )

    outcomes = together(act, workers=24)

    assert unforeseen(outcomes, log) == []
    is_removed = FundingSource.objects.get().status == "removed"
    assert is_removed is not FundingTransaction.objects.exists()
    if is_removed:
        assert AutoFundingConfig.objects.get().paused_reason == "funding_source_removed"


@rounds(10)
def test_an_approval_is_of_the_old_terms_or_void(tenant, source, round_, log):
    make_auto_funding(tenant, confirmation_threshold=0, confirmation_emails=["boss@acme.example"])
    auto_funding.evaluate(tenant_id=tenant.pk, now=NOW)
    approval = Confirmation.objects.get()
    token = links.mint(POLICY, approval, approver_email="boss@acme.example", now=NOW)
    token = token.rstrip("/").rpartition("/")[2]

    def act(worker):
        if worker == 0:
            return auto_funding_config.configure(
                tenant_id=tenant.pk, changes={"funding_amount": 7}, actor=SYSTEM, now=NOW
            )
        if worker == 1:
            return topups.cancel(
                tenant_id=tenant.pk, funding_id=approval.funding_id, actor=SYSTEM, now=NOW
            )
        if worker == 2:
            return approval_sweeps.sweep(now=NOW)
        return answers.approve(token=token, typed_amount="500.00", now=NOW)

    outcomes = together(act, workers=8)
    approval_sweeps.sweep(now=NOW)

    assert unforeseen(outcomes, log) == []
    approval.refresh_from_db()
    old = FundingTransaction.objects.get(pk=approval.funding_id)
    assert (approval.decision, old.status) in {
        ("approved", "reserved"),
        ("approved", "failed"),  # approved, then canceled before it was sent
        ("superseded", "failed"),
    }
    assert AutoFundingConfig.objects.get().funding_amount == 7
    in_flight = automatic().filter(status__in=IN_FLIGHT)
    assert in_flight.count() <= 1
    assert balances.summary(tenant.pk).pending == sum(row.amount for row in in_flight)


def test_configuring_and_evaluating_see_each_other_whole(tenant, source, log):
    """A firing has the amount and the threshold of one and the same version of the settings."""
    make_auto_funding(tenant, low_balance_threshold=1, funding_amount=1)
    fund(tenant, 1)

    def act(worker):
        if worker == 0:
            return auto_funding_config.configure(
                tenant_id=tenant.pk,
                changes={"low_balance_threshold": 1_000, "funding_amount": 1_000},
                actor=SYSTEM,
                now=NOW,
            )
        with transaction.atomic():
            return auto_funding.evaluate(tenant_id=tenant.pk, now=NOW)

    outcomes = together(act, workers=12)

    assert unforeseen(outcomes, log) == []
    assert list(automatic().values_list("amount", flat=True)) == [1_000]
    assert set(AutoFundingDecision.objects.values_list("threshold", "amount")) == {(1_000, 1_000)}
