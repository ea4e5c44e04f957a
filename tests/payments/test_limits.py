"""Limits on money out: what is paid in any 24 hours and any 30 days, in all, to one recipient, by
one API key, by one person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from approvals.errors import ApprovalClosed, NotAnApprover
from balance import invariants
from balance.errors import InsufficientBalance
from common.errors import InvalidInput
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.errors import PaymentLimitReached
from payments.models import Payment, PaymentMethod, PaymentSettings, PaymentTotal, Recipient
from payments.services import approvals, limit_settings, limits, orders, totals
from tenants.actors import SYSTEM, api_key, user
from tenants.models import AuditEvent, Mode, Role
from tenants.services import keys
from tests.builders import NOW, mails_of, make_member, make_tenant
from tests.corruption import found, tamper
from tests.payments.builders import account, fund, pay, run_due, take

pytestmark = pytest.mark.usefixtures("books_balance")

HOUR = timedelta(hours=1)
DAY = timedelta(hours=24)
# The hour of an order counts whole.
DAY_LATER = NOW.replace(minute=0, second=0, microsecond=0) + DAY + HOUR
TENANT, RECIPIENT, KEY, PERSON = CapScope
A_DAY, A_MONTH = Window


@pytest.fixture
def funded(acme):
    fund(acme, 1_000_000)
    return acme


def limit(tenant, scope, window, *, amount=None, payments=None, actor=SYSTEM, now=NOW):
    wanted = {**caps.NONE, (scope, window): Cap(amount, payments)}
    return limit_settings.change(tenant_id=tenant.pk, wanted=wanted, actor=actor, now=now)


def order(tenant, amount, *, actor=SYSTEM, to="000123456789", now=NOW, wait=False):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(to), wait_for_funds=wait),
        actor=actor,
        now=now,
    )


def refusal_of(tenant, amount, **options):
    with pytest.raises(PaymentLimitReached) as refused:
        order(tenant, amount, **options)
    return refused.value


def counted(tenant):
    """(scope, payments, cents, cents unasked) of every hour."""
    rows = PaymentTotal.objects.filter(tenant=tenant).order_by("hour", "scope")
    lines = rows.values_list("scope", "payments", "amount", "unasked")
    return [(scope.split(":")[0], *rest) for scope, *rest in lines]


class TestWhatIsPaidInADay:
    def test_may_be_all_of_it_and_not_a_cent_more(self, funded):
        limit(funded, TENANT, A_DAY, amount=10_000)
        order(funded, 4_000)
        order(funded, 6_000)

        refused = refusal_of(funded, 1)

        assert refused.extra == {
            "scope": "tenant",
            "window": "day",
            "measure": "amount",
            "limit": 10_000,
            "remaining": 0,
            "frees_at": DAY_LATER.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        assert refused.detail.startswith("At most $100.00 in any 24 hours. $0.00 left. There is")
        assert counted(funded) == [("recipient", 2, 10_000, 10_000), ("tenant", 2, 10_000, 10_000)]
        assert (Payment.objects.count(), Recipient.objects.count()) == (2, 2)

    def test_frees_when_its_hour_is_a_day_ago(self, funded):
        limit(funded, TENANT, A_DAY, amount=10_000)
        order(funded, 10_000)

        refusal_of(funded, 10_000, now=DAY_LATER - timedelta(microseconds=1))

        assert order(funded, 10_000, now=DAY_LATER).amount == 10_000

    def test_frees_for_as_much_as_is_asked_for(self, funded):
        limit(funded, TENANT, A_DAY, amount=10_000)
        order(funded, 2_000)
        order(funded, 8_000, now=NOW + 3 * HOUR)

        small = refusal_of(funded, 2_000, now=NOW + 4 * HOUR)
        large = refusal_of(funded, 2_001, now=NOW + 4 * HOUR)
        never = refusal_of(funded, 10_001, now=NOW + 4 * HOUR)

        assert small.extra["frees_at"] == DAY_LATER.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        assert large.extra["frees_at"] == (DAY_LATER + 3 * HOUR).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        assert never.extra["frees_at"] is None

    def test_counts_payments_as_well(self, funded):
        limit(funded, TENANT, A_DAY, payments=2)
        order(funded, 1)
        order(funded, 1)

        refused = refusal_of(funded, 1)

        assert (refused.extra["measure"], refused.extra["limit"]) == ("payments", 2)
        assert refused.detail.startswith("At most 2 payments in any 24 hours. 0 payments left.")


def test_a_month_is_any_thirty_days_over_the_edge_of_a_calendars(funded):
    last = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
    limit(funded, TENANT, A_MONTH, amount=10_000, now=last)
    order(funded, 10_000, now=last)

    refusal_of(funded, 1, now=last + timedelta(seconds=1))
    refusal_of(funded, 1, now=datetime(2026, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC))

    assert order(funded, 10_000, now=datetime(2026, 12, 31, tzinfo=UTC)).amount == 10_000


class TestWhose:
    def test_a_recipient_is_an_account_however_often_it_is_given(self, funded):
        limit(funded, RECIPIENT, A_DAY, amount=5_000)
        order(funded, 5_000, to="000111")

        refused = refusal_of(funded, 1, to="000111")

        assert refused.extra["scope"] == "recipient"
        assert order(funded, 5_000, to="000222").amount == 5_000

    def test_each_key_for_itself(self, funded):
        limit(funded, KEY, A_DAY, amount=5_000)
        order(funded, 5_000, actor=api_key("key_1"))

        refused = refusal_of(funded, 1, actor=api_key("key_1"))

        assert refused.extra["scope"] == "key"
        assert order(funded, 5_000, actor=api_key("key_2")).amount == 5_000

    def test_a_person_with_the_keys_that_they_made(self, funded, owner, checker):
        made = keys.issue(tenant=funded, name="own", actor=user(owner.pk), now=NOW)
        limit(funded, PERSON, A_DAY, amount=5_000)
        order(funded, 2_000, actor=user(owner.pk))
        order(funded, 3_000, actor=api_key(made.key.pk))

        refused = refusal_of(funded, 1, actor=user(owner.pk))

        assert refused.extra["scope"] == "person"
        assert order(funded, 5_000, actor=user(checker.pk)).amount == 5_000

    def test_another_tenants_payments_do_not_count(self, funded, rival):
        limit(funded, TENANT, A_DAY, amount=5_000)
        fund(rival, 5_000)
        order(rival, 5_000)

        assert order(funded, 5_000).amount == 5_000


class TestGivingBack:
    def test_a_payment_that_is_canceled(self, funded):
        limit(funded, TENANT, A_DAY, amount=5_000)
        first = order(funded, 5_000)
        orders.cancel(tenant_id=funded.pk, payment_id=first.pk, actor=SYSTEM, now=NOW + HOUR)

        assert counted(funded) == [("recipient", 0, 0, 0), ("tenant", 0, 0, 0)]
        assert order(funded, 5_000).amount == 5_000

    @pytest.mark.parametrize("number", ["10001", "20001", "40003"])
    def test_a_payment_that_its_bank_refuses_or_sends_back(self, funded, number):
        method = PaymentMethod.RTP if number == "40003" else PaymentMethod.ACH_CREDIT
        paid = pay(funded, 5_000, to=number, method=method)
        run_due(rounds=6)

        assert Payment.objects.get(pk=paid.pk).status in totals.GONE
        assert counted(funded) == [("recipient", 0, 0, 0), ("tenant", 0, 0, 0)]

    def test_a_payment_that_waited_and_was_canceled(self, acme):
        waits = order(acme, 5_000, wait=True)
        assert counted(acme) == [("recipient", 1, 5_000, 5_000), ("tenant", 1, 5_000, 5_000)]

        orders.cancel(tenant_id=acme.pk, payment_id=waits.pk, actor=SYSTEM, now=NOW)

        assert counted(acme) == [("recipient", 0, 0, 0), ("tenant", 0, 0, 0)]

    def test_a_payment_from_before_it_was_counted(self, funded):
        paid = order(funded, 5_000)
        tamper("DELETE FROM payments_paymenttotal")
        tamper("UPDATE payments_payment SET counted_for = '{}'")

        orders.cancel(tenant_id=funded.pk, payment_id=paid.pk, actor=SYSTEM, now=NOW)

        assert counted(funded) == []

    def test_a_payment_that_is_not_covered_was_never_counted(self, funded):
        take(funded, 999_999)

        with pytest.raises(InsufficientBalance):
            order(funded, 5_000)

        assert counted(funded) == []


class TestChanging:
    @pytest.fixture
    def acme(self, live, settings):
        settings.PAYMENT_LIMITS = {}
        return live

    def test_what_lets_through_less_counts_at_once(self, funded, owner, checker):
        limit(funded, TENANT, A_DAY, amount=5_000, actor=user(owner.pk))

        assert refusal_of(funded, 5_001).extra["limit"] == 5_000
        assert AuditEvent.objects.filter(action="payments.limits_changed").count() == 1

    def test_what_lets_through_more_waits_a_day_and_is_mailed(self, funded, owner, checker):
        limit(funded, TENANT, A_DAY, amount=5_000)
        row = limit(funded, TENANT, A_DAY, amount=9_000, actor=user(owner.pk))

        assert row.next_limits_at == NOW + DAY
        assert refusal_of(funded, 9_000, now=NOW + DAY - HOUR).extra["limit"] == 5_000
        assert mails_of(funded, "safeguard_waiting") == [checker.email, owner.email]
        assert order(funded, 9_000, now=NOW + DAY).amount == 9_000

    def test_nothing_waits_in_the_sandbox(self, rival):
        for name in ("one", "two"):
            person = make_member(rival, email=f"{name}@rival.example", role=Role.OWNER)
        limit(rival, TENANT, A_DAY, amount=5_000)

        row = limit(rival, TENANT, A_DAY, amount=9_000, actor=user(person.pk))

        assert (row.next_limits_at, row.limits) == (None, {"tenant.day": [9_000, None]})
        assert len(mails_of(rival, "safeguard_changed")) == 2

    def test_an_owner_who_is_alone_does_not_wait(self, funded, owner):
        limit(funded, TENANT, A_DAY, amount=5_000)
        limit(funded, TENANT, A_DAY, amount=9_000, actor=user(owner.pk))

        assert order(funded, 9_000).amount == 9_000

    def test_a_change_that_waits_can_be_withdrawn(self, funded, owner, checker):
        limit(funded, TENANT, A_DAY, amount=5_000)
        limit(funded, TENANT, A_DAY, amount=9_000, actor=user(owner.pk))

        limit_settings.withdraw(tenant_id=funded.pk, actor=user(checker.pk), now=NOW)

        assert refusal_of(funded, 9_000, now=NOW + 2 * DAY).extra["limit"] == 5_000
        assert AuditEvent.objects.filter(action="payments.limits_kept").count() == 1

    def test_a_change_that_waits_counts_once_a_second_person_agrees(self, funded, owner, checker):
        limit(funded, TENANT, A_DAY, amount=5_000)
        limit(funded, TENANT, A_DAY, amount=9_000, actor=user(owner.pk))
        with pytest.raises(NotAnApprover):
            limit_settings.agree(tenant_id=funded.pk, actor=user(owner.pk), now=NOW)
        refusal_of(funded, 9_000)

        limit_settings.agree(tenant_id=funded.pk, actor=user(checker.pk), now=NOW)

        assert order(funded, 9_000).amount == 9_000
        assert mails_of(funded, "safeguard_changed") == [checker.email, owner.email]
        event = AuditEvent.objects.filter(action="payments.limits_changed").latest("pk")
        assert (event.actor_id, event.details) == (
            checker.pk,
            {"from": {"tenant.day": [5_000, None]}, "to": {"tenant.day": [9_000, None]}},
        )
        with pytest.raises(ApprovalClosed):
            limit_settings.agree(tenant_id=funded.pk, actor=user(checker.pk), now=NOW)

    def test_a_change_of_the_approval_keeps_the_limits(self, funded):
        limit(funded, TENANT, A_DAY, amount=5_000)
        assert approvals.approval_threshold(tenant_id=funded.pk, mode=funded.mode, now=NOW) is None

        assert refusal_of(funded, 5_001).extra["limit"] == 5_000

    @pytest.mark.parametrize("amount", [0, -1, 10**16])
    def test_refuses_what_is_no_amount(self, acme, amount):
        with pytest.raises(InvalidInput):
            limit(acme, TENANT, A_DAY, amount=amount)

        assert not PaymentSettings.objects.exists()


def test_a_live_tenant_has_limits_that_nobody_set(db, settings):
    settings.PAYMENT_LIMITS = {"recipient.day": [7_000, 3]}

    live, sandbox = caps.default(Mode.LIVE), caps.default(Mode.SANDBOX)

    assert live[RECIPIENT, A_DAY] == Cap(7_000, 3)
    assert live[TENANT, A_DAY] == Cap(None, None)
    assert sandbox == caps.NONE


def test_a_live_tenant_is_held_to_them(db, settings):
    settings.PAYMENT_LIMITS = {"tenant.day": [7_000, 3]}
    live = make_tenant(name="Live", mode=Mode.LIVE)

    found_limits = list(limits.standings(tenant_id=live.pk, mode=live.mode, actor=SYSTEM, now=NOW))

    assert found_limits[0].cap == Cap(7_000, 3)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE payments_paymenttotal SET payments = payments - 1 WHERE scope = 'tenant'",
        "UPDATE payments_paymenttotal SET amount = amount + 1 WHERE scope = 'tenant'",
        "UPDATE payments_paymenttotal SET unasked = unasked - 1 WHERE scope = 'tenant'",
        "DELETE FROM payments_paymenttotal WHERE scope = 'tenant'",
        "UPDATE payments_paymenttotal SET hour = hour + interval '1 hour' WHERE scope = 'tenant'",
    ],
)
def test_the_audit_finds_totals_that_are_not_those_of_the_payments(acme, rival, damage):
    fund(acme, 10_000)
    order(acme, 5_000)
    assert invariants.check(now=NOW, full=True).findings == []

    tamper(damage)

    assert found(full=False) == found(full=True) == {"payment_total"}
    assert found(tenant_id=rival.pk) == found(full=True, tenant_id=rival.pk) == set()
    tamper("DELETE FROM payments_paymenttotal")
    tamper("UPDATE payments_payment SET counted_for = '{}'")
