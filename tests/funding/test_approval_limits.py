"""What was asked for in one month and is approved in the next is judged by the next."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection

from approvals.models import ApprovalStatus
from balance import invariants
from common.days import EASTERN
from funding import selectors
from funding.errors import NoLongerFits
from funding.models import (
    AutoFundingConfig,
    Confirmation,
    FundingEvent,
    FundingLimit,
    FundingTransaction,
    Trigger,
)
from funding.services import auto_funding, limits, topups
from funding.services.lifecycle import TopUp
from funding.states import FundingStatus
from tenants.models import AuditEvent, OutgoingEmail
from tests.balance.builders import balance_of
from tests.builders import make_auto_funding, make_funding, make_source
from tests.funding.asking import BOSS, CFO, TEAM, approve, untouched

# The last evening of October in New York, which is November in UTC already.
OCTOBER = datetime(2026, 10, 31, 22, 0, tzinfo=EASTERN)
NOVEMBER = datetime(2026, 11, 1, 9, 0, tzinfo=EASTERN)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def books_balance(db):
    yield
    assert [finding.code for finding in invariants.check(now=NOVEMBER).findings] == []


@pytest.fixture
def source(acme):
    return make_source(acme)


@pytest.fixture
def approval(acme, source):
    """An automatic funding of $500.00, asked for in October; at most $800.00 a month."""
    make_auto_funding(
        acme, confirmation_threshold=0, confirmation_emails=[BOSS, CFO], monthly_limit=80_000
    )
    auto_funding.evaluate(tenant_id=acme.pk, now=OCTOBER)
    return Confirmation.objects.get()


def used(acme, source, amount, *, at, trigger=Trigger.AUTO_FUNDING):
    """A funding that came back: for the limits it only counts while it has not failed."""
    return make_funding(
        acme,
        source,
        amount=amount,
        trigger=trigger,
        status=FundingStatus.COMPLETED,
        created_at=at,
        reserved_at=at,
        completed_at=at,
    )


def forget(*fundings):
    """Fundings without ledger rows are for the limits only: the books never saw them."""
    for funding in fundings:
        FundingTransaction.objects.filter(pk=funding.pk).update(status="failed", failed_at=NOVEMBER)


def refused(approval, now):
    """The words of the refusal, after which nothing has changed."""
    before = _rows()
    with pytest.raises(NoLongerFits) as refusal:
        approve(approval, now=now)
    assert untouched(approval)
    assert _rows() == before
    return refusal.value.detail


def _rows():
    return [model.objects.count() for model in (FundingEvent, AuditEvent, OutgoingEmail)]


class TestAutomaticFunding:
    def test_is_judged_against_the_month_of_its_approval(self, acme, source, approval):
        other = used(acme, source, 40_000, at=NOVEMBER)

        words = refused(approval, NOVEMBER + HOUR)

        assert words == (
            "At most $800.00 a month is added automatically. $400.00 was asked for this month, so"
            " $400.00 is left. Nothing was added. Decline it, or approve it once there is room."
        )
        assert balance_of(acme) == (0, 50_000, 0)
        forget(other)
        approve(approval, now=NOVEMBER + HOUR)
        approval.refresh_from_db()
        assert approval.decision == ApprovalStatus.APPROVED

    def test_what_october_used_is_of_no_matter_then(self, acme, source, approval):
        other = used(acme, source, 80_000, at=OCTOBER - HOUR)

        approve(approval, now=NOVEMBER)

        forget(other)
        assert FundingTransaction.objects.get(status="reserved").reserved_at == NOVEMBER

    def test_counts_in_the_month_of_its_approval(self, acme, approval):
        asked = selectors.funded_automatically(tenant_id=acme.pk, now=OCTOBER)
        before = selectors.funded_automatically(tenant_id=acme.pk, now=NOVEMBER)
        approve(approval, now=NOVEMBER)

        assert (asked, before) == (50_000, 0)
        assert selectors.funded_automatically(tenant_id=acme.pk, now=NOVEMBER) == 50_000
        assert limits.usage(tenant_id=acme.pk, now=NOVEMBER).this_month == 50_000

    def test_is_not_counted_against_itself_within_a_month(self, approval):
        AutoFundingConfig.objects.update(monthly_limit=50_000)

        approve(approval, now=OCTOBER + HOUR)

        approval.refresh_from_db()
        assert approval.decision == ApprovalStatus.APPROVED

    def test_is_judged_by_a_limit_that_was_lowered_meanwhile(self, approval):
        AutoFundingConfig.objects.update(monthly_limit=49_999)

        words = refused(approval, OCTOBER + HOUR)

        assert words.startswith("At most $499.99 a month is added automatically.")

    @pytest.mark.parametrize(
        ("limit", "words"),
        [
            ({"daily_max": 80_000}, "At most $800.00 a day. $400.00 was asked for today"),
            ({"monthly_max": 80_000}, "At most $800.00 a month. $400.00 was asked for this month"),
            ({"ach_transaction_max": 40_000}, "At most $400.00 per transaction by"),
        ],
    )
    def test_is_judged_by_the_tenants_limits_of_that_day(
        self, acme, source, approval, limit, words
    ):
        AutoFundingConfig.objects.update(monthly_limit=None)
        FundingLimit.objects.create(tenant=acme, **limit)
        other = used(acme, source, 40_000, at=NOVEMBER, trigger=Trigger.TOPUP)

        assert refused(approval, NOVEMBER + HOUR).startswith(words)

        forget(other)


def test_a_top_up_that_was_asked_about_counts_on_the_day_of_its_approval(acme, source):
    make_auto_funding(acme, enabled=False, confirmation_threshold=0, confirm_topups=True)
    FundingLimit.objects.create(tenant=acme, daily_max=60_000)
    topups.request(
        tenant_id=acme.pk,
        mode=acme.mode,
        topup=TopUp(source_id=source.pk, amount=50_000),
        actor=TEAM,
        now=OCTOBER,
    )
    approval = Confirmation.objects.get()
    Confirmation.objects.update(approvers=[BOSS])
    AutoFundingConfig.objects.update(confirmation_emails=[BOSS])
    other = used(acme, source, 20_000, at=NOVEMBER, trigger=Trigger.TOPUP)

    assert refused(approval, NOVEMBER).startswith("At most $600.00 a day. $200.00 was")

    forget(other)
    approve(approval, now=NOVEMBER)
    assert limits.usage(tenant_id=acme.pk, now=NOVEMBER).today == 50_000


def test_the_sums_are_read_by_indexes(acme):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = selectors.counted(tenant_id=acme.pk, since=NOVEMBER).explain()

    assert "Seq Scan" not in plan
