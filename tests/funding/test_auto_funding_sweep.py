"""The sweep of auto-funding, and until when a top-up waits for approval."""

from __future__ import annotations

from datetime import timedelta

from balance import selectors as balances
from balance import services as ledger
from funding.models import AutoFundingConfig, Trigger
from funding.services import auto_funding, lifecycle, pauses, topup_terms
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.services import accounts
from tests.balance.builders import fund
from tests.builders import NOW, make_auto_funding, make_funding, make_source
from tests.funding.auto_funding import MINUTE, automatic, evaluate, log_of, make_broken_auto_funding


class TestSweep:
    def test_finds_who_is_low_and_was_missed(self, acme, rival, config):
        make_source(rival)
        make_auto_funding(rival)
        fund(rival, 10_000)

        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1
        assert not automatic(rival).exists()

    def test_leaves_out_who_cannot_fire(self, acme, rival, source, config):
        make_funding(acme, source, trigger=Trigger.AUTO_FUNDING)
        make_source(rival)
        make_auto_funding(rival, paused_reason="too_many_firings")

        assert auto_funding.sweep(now=NOW) == 0

        assert log_of(acme) == log_of(rival) == []

    def test_asks_about_who_cannot_fire_only_now_and_then(
        self, acme, rival, source, config, django_assert_num_queries
    ):
        make_funding(acme, source, trigger=Trigger.AUTO_FUNDING)
        make_auto_funding(rival, paused_reason="too_many_firings")
        auto_funding.sweep(now=NOW)

        with django_assert_num_queries(3):  # the time, recoveries, then who is due
            auto_funding.sweep(now=NOW + 9 * MINUTE)
        assert {*balances.low_tenants(now=NOW + 10 * MINUTE)} == {acme.pk, rival.pk}

    def test_looks_at_once_when_the_pause_is_over(self, acme, source):
        make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=NOW + MINUTE)

        assert auto_funding.sweep(now=NOW) == 0
        assert auto_funding.sweep(now=NOW + MINUTE) == 1

    def test_looks_at_once_when_a_suspension_is_lifted(self, acme, source):
        make_auto_funding(acme)
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        assert auto_funding.sweep(now=NOW) == 0

        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=NOW + MINUTE)

        assert auto_funding.sweep(now=NOW + MINUTE) == 1

    def test_looks_at_once_when_a_person_resumes(self, acme, source):
        make_auto_funding(acme, paused_reason="too_many_firings")
        auto_funding.sweep(now=NOW)

        pauses.resume(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        assert auto_funding.sweep(now=NOW) == 1

    def test_looks_at_once_when_the_one_under_way_is_over(self, acme, source, config):
        under_way = make_funding(acme, source, trigger=Trigger.AUTO_FUNDING, amount=1)
        ledger.change_pending(tenant_id=acme.pk, delta=1)
        assert auto_funding.sweep(now=NOW) == 0

        lifecycle.move(funding=under_way, target=FundingStatus.FAILED, actor=SYSTEM, now=NOW)

        assert auto_funding.sweep(now=NOW) == 1

    def test_looks_again_at_who_is_suspended(self, acme, config):
        Tenant.objects.filter(pk=acme.pk).update(status="suspended")
        assert auto_funding.sweep(now=NOW) == 0
        Tenant.objects.filter(pk=acme.pk).update(status="active")

        assert auto_funding.sweep(now=NOW + 10 * MINUTE) == 1

    def test_forgets_who_was_low_when_it_is_switched_off(self, acme):
        make_auto_funding(acme)
        evaluate(acme)
        ledger.set_notify_below(tenant_id=acme.pk, amount=None)

        auto_funding.sweep(now=NOW)

        assert AutoFundingConfig.objects.get().low_since is None
        assert balances.recovered_tenants() == []

    def test_resumes_what_waited_long_enough(self, acme, source):
        make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=NOW)

        assert auto_funding.sweep(now=NOW - MINUTE) == 0
        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1

    def test_notices_that_a_balance_recovered_without_us(self, acme):
        make_auto_funding(acme)
        evaluate(acme)
        fund(acme, 10_000)

        auto_funding.sweep(now=NOW)

        config = AutoFundingConfig.objects.get()
        assert (config.low_since, config.last_decline_reason) == (None, "")

    def test_one_tenant_that_breaks_does_not_stop_the_others(self, acme, rival, config, connect):
        make_source(rival)
        make_broken_auto_funding(rival, connect)

        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1


class TestConfirmationDeadline:
    def deadline(self, tenant, amount):
        return topup_terms.approval_deadline(tenant_id=tenant.pk, amount=amount, now=NOW)

    def test_concerns_top_ups_only_where_the_tenant_wants_it(self, acme):
        config = make_auto_funding(acme, confirmation_threshold=10_000)
        assert self.deadline(acme, 10_001) is None

        config.confirm_topups = True
        config.save()
        assert self.deadline(acme, 10_001) == NOW + timedelta(hours=72)
        assert self.deadline(acme, 10_000) is None

    def test_holds_while_auto_funding_itself_is_off(self, acme):
        make_auto_funding(acme, enabled=False, confirmation_threshold=0, confirm_topups=True)

        assert self.deadline(acme, 1) == NOW + timedelta(hours=72)

    def test_without_a_threshold_or_settings_nobody_is_asked(self, acme, rival):
        make_auto_funding(acme, confirm_topups=True)

        assert self.deadline(acme, 10**9) is None
        assert self.deadline(rival, 10**9) is None
