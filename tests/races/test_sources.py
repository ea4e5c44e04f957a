"""Many requests about the same bank accounts at once."""

from __future__ import annotations

from collections import Counter
from threading import Event

import pytest
from django.db import transaction

from balance import services as ledger
from common.clock import utc_now
from funding.errors import (
    DuplicateFundingSource,
    FundingSourceInUse,
    FundingSourceUnusable,
    IncompleteAutoFunding,
    TooManyFundingSources,
)
from funding.models import (
    AutoFundingConfig,
    FundingSource,
    FundingTransaction,
    SourceVerification,
)
from funding.services import auto_funding_config, lifecycle, sources, topup_terms
from funding.services.lifecycle import TopUp
from funding.states import IN_FLIGHT, FundingStatus
from funding.transfer import FUNDING
from tenants.actors import SYSTEM
from tests.builders import NOW, ApiClient, make_key, make_source, make_tenant
from tests.races.together import rounds, together
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent

WORKERS = 8

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(transactional_db):
    return make_tenant(name="Acme")


def kinds(outcomes):
    return Counter(type(outcome) for outcome in outcomes)


def start(source):
    """What every funding begins with, from a source that is locked."""
    return lifecycle.start(
        TopUp(source_id=source.pk, amount=100),
        tenant_id=source.tenant_id,
        network="sandbox",
        confirm_until=None,
        actor=SYSTEM,
        now=utc_now(),
    )


@transaction.atomic
def top_up(source):
    topup_terms.lock(
        tenant_id=source.tenant_id,
        mode=source.tenant.mode,
        source_id=source.pk,
        method="ach_debit",
    )
    return start(source)


@transaction.atomic
def fund_automatically(source):
    """With the balance row in hand, so it must not wait for the source."""
    ledger.lock_row(tenant_id=source.tenant_id)
    locked = sources.hold(tenant_id=source.tenant_id, source_id=source.pk)
    sources.require_usable(source=locked, method="ach_debit")
    return start(locked)


def remove(source):
    return sources.remove(
        tenant_id=source.tenant_id, source_id=source.pk, actor=SYSTEM, now=utc_now()
    )


class TestAdding:
    @rounds(5)
    def test_one_account_is_added_once_and_everybody_learns_its_id(self, acme, round_):
        outcomes = together(lambda _: make_source(acme), workers=WORKERS)

        source = FundingSource.objects.get()
        assert kinds(outcomes) == {FundingSource: 1, DuplicateFundingSource: WORKERS - 1}
        refusals = [each for each in outcomes if isinstance(each, DuplicateFundingSource)]
        assert {refusal.extra["existing_id"] for refusal in refusals} == {source.pk}

    def test_only_one_becomes_the_default(self, acme):
        outcomes = together(
            lambda worker: make_source(acme, account_number=f"22222{worker}"), workers=WORKERS
        )

        assert kinds(outcomes) == {FundingSource: WORKERS}
        assert FundingSource.objects.filter(is_default=True).count() == 1

    def test_the_limit_holds(self, acme):
        for number in range(17):
            make_source(acme, account_number=f"33333{number}")

        outcomes = together(
            lambda worker: make_source(acme, account_number=f"22222{worker}"), workers=WORKERS
        )

        assert kinds(outcomes) == {FundingSource: 3, TooManyFundingSources: WORKERS - 3}
        assert FundingSource.objects.count() == 20

    def test_hears_of_what_the_bank_says_meanwhile_about_an_earlier_debit(self, acme):
        """The bank speaks after the account's past was read and before the new row is there."""
        old = make_source(acme)
        remove(old)
        is_added, has_spoken = Event(), Event()

        def add():
            with transaction.atomic():
                again = make_source(acme)
                is_added.set()
                has_spoken.wait(0.5)  # in vain: the bank's word waits for us
            return again

        def speak():
            assert is_added.wait(10)
            sources.note_return(source=old, return_code="R10", now=NOW)
            has_spoken.set()

        again, _ = together(lambda worker: (add, speak)[worker](), workers=2)

        again.refresh_from_db()
        assert again.authorization_ended_at == NOW


class TestMakingDefault:
    def test_one_is_the_default_in_the_end(self, acme):
        made = [make_source(acme, account_number=f"22222{number}") for number in range(WORKERS)]

        outcomes = together(
            lambda worker: sources.make_default(
                tenant_id=acme.pk, source_id=made[worker].pk, actor=SYSTEM, now=NOW
            ),
            workers=WORKERS,
        )

        assert kinds(outcomes) == {FundingSource: WORKERS}
        assert FundingSource.objects.filter(is_default=True).count() == 1


class TestGuessing:
    def test_a_burst_gets_three_tries(self, acme):
        source = make_source(acme, account_number="50001")
        key = make_key(acme)
        path = f"/api/v1/balance/funding-sources/{source.pk}/verify"

        answers = together(
            lambda worker: ApiClient(key).post_json(path, {"amounts": [40, 41 + worker]}),
            workers=16,
        )

        assert {answer.status_code for answer in answers} == {422}
        left = sorted(answer.json()["attemptsRemaining"] for answer in answers)
        assert left == [0] * 14 + [1, 2]
        assert SourceVerification.objects.get().tries_used == 3
        assert FundingSource.objects.get().status == "verification_failed"

    def test_a_burst_of_right_answers_activates_once(self, acme):
        source = make_source(acme, account_number="50001")
        key = make_key(acme)
        path = f"/api/v1/balance/funding-sources/{source.pk}/verify"

        answers = together(
            lambda _: ApiClient(key).post_json(path, {"amounts": [11, 22]}), workers=WORKERS
        )

        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: WORKERS - 1}


class TestRemoving:
    @pytest.mark.parametrize("fund", [top_up, fund_automatically])
    @rounds(5)
    def test_no_funding_is_on_its_way_from_a_removed_account(self, acme, fund, round_):
        source = make_source(acme)
        acts = [remove, fund, fund, remove]

        outcomes = together(lambda worker: acts[worker % 4](source), workers=WORKERS)

        expected = {FundingSource, FundingTransaction, FundingSourceInUse, FundingSourceUnusable}
        assert set(kinds(outcomes)) <= expected, outcomes
        is_removed = FundingSource.objects.get(pk=source.pk).status == "removed"
        on_its_way = FundingTransaction.objects.filter(source=source, status__in=IN_FLIGHT)
        assert is_removed != on_its_way.exists()

    def test_repeated_removals_agree(self, acme):
        source = make_source(acme)

        outcomes = together(lambda _: remove(source), workers=WORKERS)

        assert kinds(outcomes) == {FundingSource: WORKERS}
        assert len({outcome.removed_at for outcome in outcomes}) == 1

    @rounds(5)
    def test_a_late_return_neither_blocks_nor_is_blocked(self, acme, round_):
        source = make_source(acme)
        funding = top_up(source)
        for status in ("pending", "in_transit", "completed"):
            lifecycle.move(
                funding=funding, target=FundingStatus(status), actor=SYSTEM, now=utc_now()
            )
        event = InboundEvent.objects.create(
            network="sandbox",
            event_id="e1",
            instruction_id=funding.pk,
            kind="returned",
            amount=100,
            currency="USD",
            code="R02",
            occurred_at=NOW,
            received_at=NOW,
            next_attempt_at=NOW,
        )
        acts = [
            lambda: messages.apply(FUNDING, event_id=event.pk, now=utc_now()),
            lambda: remove(source).status,
        ]

        outcomes = together(lambda worker: acts[worker](), workers=2)

        assert outcomes == [True, "removed"]
        assert FundingSource.objects.get().last_return_code == "R02"

    @rounds(5)
    def test_auto_funding_never_goes_on_from_a_removed_account(self, acme, round_):
        source = make_source(acme)
        changes: auto_funding_config.Changes = {
            "enabled": True,
            "low_balance_threshold": 0,
            "funding_amount": 100,
            "funding_method": "ach_debit",
            "source_id": source.pk,
        }

        def configure():
            auto_funding_config.configure(
                tenant_id=acme.pk, changes=changes, actor=SYSTEM, now=utc_now()
            )

        acts = [configure, lambda: remove(source)]

        outcomes = together(lambda worker: acts[worker % 2](), workers=WORKERS)

        expected = {type(None), FundingSource, IncompleteAutoFunding}
        assert set(kinds(outcomes)) <= expected, outcomes
        config = AutoFundingConfig.objects.filter(tenant=acme, enabled=True).first()
        assert config is None or config.paused_reason == "funding_source_removed"
