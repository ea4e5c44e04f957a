"""What came back for want of funds is tried once more: by people, or by the tenant's rule."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from balance import invariants
from common.errors import NotFound
from funding.errors import (
    AuthorizationRequired,
    DailyLimitExceeded,
    FundingSourceUnusable,
    RetryNotPossible,
)
from funding.models import AuthorizedDebit, FundingLimit, FundingTransaction, RetryRule, Trigger
from funding.services import debit_authorizations, retries, sources, topups
from funding.services.lifecycle import TopUp
from funding.states import FundingStatus
from funding.transfer import FUNDING
from networks.base import EventKind, Purpose
from tenants.actors import user
from tenants.models import AuditEvent, Mode
from tests.balance.builders import balance_of
from tests.builders import NOW, make_auto_funding, make_funding, make_source, make_tenant
from tests.funding.agreeing import agree, make_individual
from tests.funding.builders import run_due, top_up
from tests.funding.live_network import LiveNetwork, connected
from tests.networks.scripted import ScriptedNetwork, message
from transfers.inbox import arrivals, messages

pytestmark = pytest.mark.django_db

DANA = user("usr_dana")


def came_back(tenant, number="10001", **columns):
    """A top-up that the bank has returned."""
    known = tenant.fundingsource_set.filter(last4=number[-4:]).first()
    row = top_up(tenant, source=known or make_source(tenant, account_number=number), **columns)
    run_due(rounds=8)
    row.refresh_from_db()
    assert row.returned
    return row


def retry(row, *, actor=DANA, now=NOW, mode=Mode.SANDBOX):
    return retries.start(
        tenant_id=row.tenant_id, mode=mode, funding_id=row.pk, actor=actor, now=now
    )


def hear(row, kind, code):
    said = message(row, kind, id=f"nev-{kind}", code=code)
    arrivals.collect(network=ScriptedNetwork(said), id_prefix="ftx_", now=NOW)
    messages.apply_new(FUNDING, now=NOW)


class TestARetry:
    @pytest.mark.parametrize("number", ["10001", "10009", "20001", "20009"])
    def test_is_a_funding_of_its_own_that_names_the_first(self, acme, number):
        first = came_back(acme, number, amount=7_777, description="November")

        again = retry(first)

        assert (again.retry_of_id, again.status, again.trigger) == (first.pk, "reserved", "topup")
        assert (again.amount, again.source_id) == (7_777, first.source_id)
        assert (again.description, again.created_by_id) == ("November", "usr_dana")
        first.refresh_from_db()
        assert (first.status, first.retry_of_id) == ("failed", None)
        assert balance_of(acme)[1] == 7_777
        assert invariants.check(now=NOW, full=True).findings == []

    def test_is_sent_as_one_under_the_id_that_the_holder_knows(self, acme):
        first = came_back(acme)
        again = FundingTransaction.objects.select_related("source").get(pk=retry(first).pk)

        told = FUNDING.instruction(again)
        assert (told.purpose, told.original_id) == (Purpose.RETRY, first.pk)
        assert told.individual_id == first.pk[-15:].upper()
        assert FUNDING.instruction(first).purpose == Purpose.TOPUP

    def test_comes_back_a_second_time_and_then_never_again(self, acme):
        first = came_back(acme)
        for _ in range(2):
            again = retry(first)
            run_due(rounds=8)
            again.refresh_from_db()
            assert (again.status, again.return_code) == ("failed", "R01")

        with pytest.raises(RetryNotPossible, match="2 times"):
            retry(first)
        assert balance_of(acme)[:2] == (0, 0)
        assert invariants.check(now=NOW, full=True).findings == []

    def test_that_was_canceled_does_not_count(self, acme):
        first = came_back(acme)
        for _ in range(3):
            again = retry(first)
            topups.cancel(tenant_id=acme.pk, funding_id=again.pk, actor=DANA, now=NOW)

        assert retry(first).status == "reserved"

    def test_waits_for_an_approval_like_any_top_up(self, acme):
        first = came_back(acme)
        make_auto_funding(acme, confirmation_threshold=1_000, confirm_topups=True)

        again = retry(first)
        assert (again.status, again.requires_confirmation) == ("awaiting_confirmation", True)
        with pytest.raises(RetryNotPossible, match="already"):
            retry(first)


class TestIsRefused:
    @pytest.mark.parametrize("number", ["10002", "10010", "20008"])
    def test_for_another_reason(self, acme, number):
        with pytest.raises(RetryNotPossible, match="R01 or R09"):
            retry(came_back(acme, number))

    def test_for_what_never_came_back(self, acme):
        for row in (top_up(acme), make_funding(acme, make_source(acme, account_number="10001"))):
            with pytest.raises(RetryNotPossible, match="R01 or R09"):
                retry(row)

    def test_for_a_retry(self, acme):
        again = retry(came_back(acme))
        run_due(rounds=8)
        again.refresh_from_db()
        assert again.returned

        with pytest.raises(RetryNotPossible, match="retry itself"):
            retry(again)

    def test_while_one_is_on_its_way(self, acme):
        first = came_back(acme)
        retry(first)

        with pytest.raises(RetryNotPossible, match="already"):
            retry(first)

    def test_once_the_money_came(self, acme):
        first = came_back(acme)
        make_funding(acme, first.source, status=FundingStatus.COMPLETED, retry_of=first)

        with pytest.raises(RetryNotPossible, match="the money came"):
            retry(first)

    def test_once_a_retry_came_back_for_another_reason(self, acme):
        first = came_back(acme)
        make_funding(
            acme,
            first.source,
            status=FundingStatus.FAILED,
            retry_of=first,
            returned=True,
            returned_at=NOW,
            return_code="R02",
        )

        with pytest.raises(RetryNotPossible, match="R02"):
            retry(first)

    def test_while_our_bank_does_not_accept_the_return(self, acme):
        """Its money comes back then; once the other bank contests that, it is gone for good."""
        first = came_back(acme)
        hear(first, EventKind.RETURN_DISHONORED, "R68")
        with pytest.raises(RetryNotPossible, match="does not accept the return"):
            retry(first)

        hear(first, EventKind.RETURN_CONTESTED, "R73")
        assert retry(first).retry_of_id == first.pk

    def test_after_180_days(self, acme):
        first = came_back(acme)
        settled = first.expected_availability_date

        with pytest.raises(RetryNotPossible, match="180 days"):
            retry(first, now=datetime.combine(settled, time(12), UTC) + timedelta(days=179))
        assert retry(first, now=NOW + timedelta(days=170)).retry_of_id == first.pk

    def test_of_another_tenant(self, acme, rival):
        first = came_back(acme)

        with pytest.raises(NotFound):
            retries.start(
                tenant_id=rival.pk, mode=Mode.SANDBOX, funding_id=first.pk, actor=DANA, now=NOW
            )

    def test_above_the_limit_of_the_day(self, acme):
        first = came_back(acme, amount=30_000)
        FundingLimit.objects.create(tenant=acme, daily_max=20_000)

        with pytest.raises(DailyLimitExceeded):
            retry(first)

    def test_from_an_account_that_was_removed(self, acme):
        first = came_back(acme)
        sources.remove(tenant_id=acme.pk, source_id=first.source_id, actor=DANA, now=NOW)

        with pytest.raises(FundingSourceUnusable):
            retry(first)


class TestOfAnIndividual:
    @pytest.fixture
    def first(self):
        """A live tenant's debit of an individual's account, on a single authorization."""
        tenant = make_tenant(mode=Mode.LIVE, name="Live Inc")
        network = LiveNetwork()
        with connected(network):
            source = make_individual(tenant)
            agree(source, "single", amount_max=25_000)
            row = topups.request(
                tenant_id=tenant.pk,
                mode=Mode.LIVE,
                topup=TopUp(source_id=source.pk, amount=25_000),
                actor=DANA,
                now=NOW,
            )
            run_due(rounds=1)
            FundingTransaction.objects.filter(pk=row.pk).update(
                status="in_transit", in_transit_at=NOW
            )
            FundingTransaction.objects.filter(pk=row.pk).update(
                status=FundingStatus.FAILED,
                failed_at=NOW,
                returned=True,
                returned_at=NOW,
                return_code="R01",
            )
            row.refresh_from_db()
            yield row

    def test_goes_by_the_authorization_of_the_first_debit(self, first):
        again = retry(first, mode=Mode.LIVE)

        debits = AuthorizedDebit.objects.order_by("created_at", "pk")
        assert {(one.funding_id, one.is_retry) for one in debits} == {
            (first.pk, False),
            (again.pk, True),
        }
        assert len({one.authorization_id for one in debits}) == 1

    def test_is_refused_once_it_was_revoked(self, first):
        found = AuthorizedDebit.objects.get(funding=first).authorization_id
        debit_authorizations.revoke(
            tenant_id=first.tenant_id, authorization_id=found, actor=DANA, now=NOW
        )

        with pytest.raises(AuthorizationRequired, match="has ended"):
            retry(first, mode=Mode.LIVE)

    def test_gives_a_single_one_no_second_debit_of_another_kind(self, first):
        with pytest.raises(AuthorizationRequired):
            topups.request(
                tenant_id=first.tenant_id,
                mode=Mode.LIVE,
                topup=TopUp(source_id=first.source_id, amount=25_000),
                actor=DANA,
                now=NOW,
            )


class TestTheDatabase:
    def test_refuses_two_at_a_time(self, acme):
        first = came_back(acme)
        retry(first)

        for status in (FundingStatus.RESERVED, FundingStatus.IN_TRANSIT, FundingStatus.COMPLETED):
            with pytest.raises(IntegrityError, match="one_retry_at_a_time"), transaction.atomic():
                make_funding(acme, first.source, status=status, retry_of=first)

    def test_keeps_what_a_retry_is_about(self, acme):
        first = came_back(acme)
        again = retry(first)

        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            FundingTransaction.objects.filter(pk=again.pk).update(retry_of=None)


class TestTheRule:
    # NOW is a Friday: three banking days later it is Wednesday.
    WEDNESDAY = datetime(2026, 11, 25, 13, 30, tzinfo=UTC)

    def rule(self, tenant, times=2, after_days=3, now=NOW - timedelta(days=1)):
        return retries.set_rule(
            tenant_id=tenant.pk, times=times, after_days=after_days, actor=DANA, now=now
        )

    def test_tries_again_in_the_morning_of_the_day(self, acme):
        self.rule(acme)
        first = came_back(acme)

        assert retries.run_due(now=self.WEDNESDAY - timedelta(seconds=1)) == 0
        assert retries.run_due(now=self.WEDNESDAY) == 1
        assert retries.run_due(now=self.WEDNESDAY) == 0
        again = FundingTransaction.objects.get(retry_of=first)
        assert (again.created_by_type, again.trigger) == ("system", Trigger.TOPUP)

    def test_counts_from_the_return_of_the_retry_before(self, acme):
        self.rule(acme, times=2, after_days=1)
        first = came_back(acme)
        for days, done in ((2, 0), (3, 1), (4, 1), (5, 0)):
            now = NOW + timedelta(days=days)
            assert retries.run_due(now=now) == done
            run_due(now=now, rounds=8)

        assert FundingTransaction.objects.filter(retry_of=first, returned=True).count() == 2

    def test_of_one_stops_after_one(self, acme):
        self.rule(acme, times=1, after_days=1)
        came_back(acme)
        assert retries.run_due(now=NOW + timedelta(days=3)) == 1
        run_due(now=NOW + timedelta(days=3), rounds=8)

        assert retries.run_due(now=NOW + timedelta(days=5)) == 0

    def test_leaves_the_past_other_reasons_and_auto_funding_alone(self, acme):
        came_back(acme)
        self.rule(acme, now=NOW + timedelta(seconds=1))
        came_back(acme, "10002")
        make_funding(
            acme,
            make_source(acme, account_number="777001"),
            status=FundingStatus.FAILED,
            trigger=Trigger.AUTO_FUNDING,
            returned=True,
            returned_at=NOW + timedelta(hours=1),
            return_code="R01",
            failed_at=NOW + timedelta(hours=1),
        )

        assert retries.run_due(now=self.WEDNESDAY) == 0

    def test_of_nobody_tries_nothing(self, acme):
        came_back(acme)
        assert retries.run_due(now=self.WEDNESDAY) == 0

    def test_that_was_given_up_tries_nothing(self, acme):
        self.rule(acme)
        came_back(acme)
        self.rule(acme, times=0, now=NOW)

        assert retries.run_due(now=self.WEDNESDAY) == 0

    def test_tries_until_the_obstacle_is_gone_but_not_for_ever(self, acme, rival):
        for tenant in (acme, rival):
            self.rule(tenant)
        came_back(acme, amount=30_000)
        came_back(rival)
        limit = FundingLimit.objects.create(tenant=acme, daily_max=1)

        assert retries.run_due(now=self.WEDNESDAY) == 1
        limit.daily_max = None
        limit.save()
        assert retries.run_due(now=self.WEDNESDAY + timedelta(days=5)) == 0
        assert retries.run_due(now=self.WEDNESDAY + timedelta(days=4)) == 1

    def test_is_one_row_with_its_line_in_the_audit_log(self, acme):
        self.rule(acme, times=1, after_days=5)
        self.rule(acme, times=1, after_days=5)
        self.rule(acme, times=2, after_days=5)

        assert list(RetryRule.objects.values_list("times", "after_days")) == [(2, 5)]
        said = AuditEvent.objects.filter(action="tenant.retry_rule_changed")
        assert [line.details for line in said.order_by("created_at", "pk")] == [
            {"times": 1, "afterDays": 5},
            {"times": 2, "afterDays": 5},
        ]

    @pytest.mark.parametrize(("times", "days"), [(3, 3), (-1, 3), (1, 0), (1, 11)])
    def test_of_no_sense_is_refused(self, acme, times, days):
        with pytest.raises(ValueError, match="cannot be"):
            self.rule(acme, times=times, after_days=days)


def test_a_forged_retry_is_found(acme):
    first = came_back(acme)
    other = make_funding(acme, first.source, amount=1, status=FundingStatus.FAILED, retry_of=first)

    found = invariants.check(now=NOW, full=True).findings
    assert ("funding_retry", other.pk) in {(one.code, one.subject) for one in found}
