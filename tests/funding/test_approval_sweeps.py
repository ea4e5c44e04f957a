"""What happens to approvals by itself."""

from __future__ import annotations

from datetime import timedelta

from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import approval_sweeps, auto_funding, topups
from funding.services.lifecycle import TopUp
from tests.balance.builders import balance_of
from tests.builders import NOW, mails_of, make_auto_funding, make_source
from tests.funding.asking import BOSS, CFO, END, HOUR, TEAM, decline, outcome, sent


class TestSweep:
    def test_closes_what_nobody_answered(self, acme, approval):
        assert approval_sweeps.expire_due(now=END - timedelta(microseconds=1)) == 0
        assert approval_sweeps.expire_due(now=END) == 1

        assert outcome(approval) == ("expired", "", "failed", "confirmation_expired")
        assert balance_of(acme) == (0, 0, 0)
        assert AutoFundingConfig.objects.get().paused_until == END + HOUR
        assert mails_of(acme, "confirmation_decided") == [BOSS, CFO]
        assert approval_sweeps.expire_due(now=END) == 0

    def test_reminds_once_a_day_before_the_end(self, acme, approval):
        assert approval_sweeps.remind_due(now=NOW + 47 * HOUR) == 0
        assert approval_sweeps.remind_due(now=NOW + 48 * HOUR) == 1
        assert approval_sweeps.remind_due(now=NOW + 49 * HOUR) == 0

        assert mails_of(acme, "confirmation_reminder") == [BOSS, CFO]
        body = sent("confirmation_reminder")[BOSS]
        assert "/confirm/" in body

    def test_reminds_nobody_of_what_is_decided_or_over(self, acme, approval):
        assert approval_sweeps.remind_due(now=END) == 0
        decline(approval)
        assert approval_sweeps.remind_due(now=NOW + 48 * HOUR) == 0

    def test_withdraws_what_the_settings_would_not_ask_any_more(self, acme, approval):
        assert approval_sweeps.withdraw_stale(now=NOW) == 0

        AutoFundingConfig.objects.update(funding_amount=60_000)

        assert approval_sweeps.withdraw_stale(now=NOW) == 1
        assert outcome(approval) == ("superseded", "", "failed", "confirmation_superseded")
        assert AutoFundingConfig.objects.get().failures_in_a_row == 0

    def test_leaves_the_approval_of_a_top_up_alone(self, acme):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirmation_threshold=0, confirm_topups=True)
        topups.request(
            tenant_id=acme.pk,
            mode=acme.mode,
            topup=TopUp(source_id=source.pk, amount=100),
            actor=TEAM,
            now=NOW,
        )

        assert approval_sweeps.withdraw_stale(now=NOW) == 0

    def test_one_that_breaks_does_not_stop_the_others(self, acme, rival, approval):
        make_source(rival, account_number="222222")
        make_auto_funding(rival, confirmation_threshold=0)
        auto_funding.evaluate(tenant_id=rival.pk, now=NOW)
        # A funding that already ended cannot fail once more.
        FundingTransaction.objects.filter(tenant=acme).update(status="failed", failed_at=NOW)

        assert approval_sweeps.expire_due(now=END) == 1

        assert Confirmation.objects.get(tenant=rival).decision == "expired"
        assert Confirmation.objects.get(tenant=acme).decision == "open"

    def test_does_all_of_it(self, acme, approval):
        approval_sweeps.sweep(now=END)

        assert outcome(approval)[0] == "expired"
