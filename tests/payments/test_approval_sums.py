"""The approval limit looks at what adds up: to one recipient and by one maker, in a day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from payments import caps
from payments.models import PaymentConfirmation
from payments.services import approval_settings, approvals, limit_settings, orders
from tenants.actors import SYSTEM, api_key, user
from tenants.models import Membership, Mode, Role
from tenants.services import keys, members
from tests.builders import NOW, make_member, make_tenant
from tests.payments.builders import account

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=25)
LIMIT = 1_000


def order(tenant, amount, *, to, actor=SYSTEM, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(to)),
        actor=actor,
        now=now,
    )


def asked(payments):
    return [payment.requires_confirmation for payment in payments]


def test_of_eight_payments_of_exactly_the_limit_one_goes_unasked(rule):
    made = [order(rule, LIMIT, to="000111", actor=api_key("key_1")) for _ in range(8)]

    assert asked(made) == [False] + [True] * 7
    assert PaymentConfirmation.objects.count() == 7
    reason = PaymentConfirmation.objects.earliest("created_at", "pk").reason
    assert reason.startswith("Above $10.00 in a day, to one recipient or by one person")


def test_one_recipient_is_paid_by_several(rule, owner, checker):
    made = [
        order(rule, 600, to="000111", actor=user(owner.pk)),
        order(rule, 600, to="000111", actor=user(checker.pk)),
    ]

    assert asked(made) == [False, True]


def test_one_maker_pays_several_with_several_keys(rule, owner):
    first, second = (
        keys.issue(tenant=rule, name=name, actor=user(owner.pk), now=NOW).key
        for name in ("one", "two")
    )
    made = [
        order(rule, 600, to="000111", actor=api_key(first.pk)),
        order(rule, 600, to="000222", actor=api_key(second.pk)),
        order(rule, 400, to="000333", actor=user(owner.pk)),
    ]

    assert asked(made) == [False, True, False]


def test_what_was_asked_about_does_not_add_up(rule):
    made = [order(rule, amount, to="000111") for amount in (1_001, 1_000, 1)]

    assert asked(made) == [True, False, True]


def test_what_failed_does_not_add_up(rule):
    first = order(rule, LIMIT, to="000111")
    orders.cancel(tenant_id=rule.pk, payment_id=first.pk, actor=SYSTEM, now=NOW)

    assert asked([order(rule, LIMIT, to="000111")]) == [False]


def test_what_is_a_day_ago_does_not_add_up(rule):
    order(rule, LIMIT, to="000111")

    assert asked([order(rule, LIMIT, to="000111", now=NOW + DAY)]) == [False]


class TestDefault:
    """A live tenant's limit that nobody set."""

    @pytest.fixture
    def live(self, db, settings):
        settings.PAYMENT_APPROVAL_ABOVE = LIMIT
        live = make_tenant(name="Live", mode=Mode.LIVE)
        make_member(live, email="one@live.example", role=Role.OWNER)
        return live

    def limit(self, tenant, *, now=NOW):
        return approvals.approval_threshold(tenant_id=tenant.pk, mode=tenant.mode, now=now)

    def test_is_on_where_there_are_two(self, live, acme):
        make_member(live, email="two@live.example", role=Role.APPROVER)
        for email in ("one@acme.example", "two@acme.example"):
            make_member(acme, email=email)

        assert (self.limit(live), self.limit(acme)) == (LIMIT, None)

    def limit_of(self, tenant, actor, *, now=NOW):
        return approvals.threshold_for(tenant_id=tenant.pk, mode=tenant.mode, actor=actor, now=now)

    def test_is_off_for_an_owner_who_is_alone_and_on_for_others(self, live):
        owner = user(Membership.objects.get(tenant=live).user_id)
        lee = make_member(live, email="lee@live.example", role=Role.MEMBER)

        assert self.limit(live) == LIMIT
        assert self.limit_of(live, owner) is None
        assert self.limit_of(live, user(lee.pk)) == self.limit_of(live, SYSTEM) == LIMIT

    def test_is_off_where_there_are_no_people(self):
        assert self.limit(make_tenant(name="Program", mode=Mode.LIVE)) is None

    def test_stays_on_for_a_day_after_the_others_were_removed(self, live):
        owner = user(Membership.objects.get(tenant=live).user_id)
        other = make_member(live, email="two@live.example", role=Role.APPROVER)
        membership = Membership.objects.get(tenant=live, user=other)
        members.remove(tenant_id=live.pk, membership_id=membership.pk, actor=SYSTEM, now=NOW)

        assert self.limit_of(live, owner) == LIMIT
        assert self.limit_of(live, owner, now=NOW + DAY) is None

    def test_to_clear_it_waits_for_a_day(self, live):
        owner = make_member(live, email="two@live.example")
        row = approval_settings.set_threshold(
            tenant_id=live.pk, threshold=None, actor=user(owner.pk), now=NOW
        )

        assert row.next_at == NOW + timedelta(hours=24)
        assert self.limit(live) == LIMIT
        assert self.limit(live, now=NOW + DAY) is None

    def test_stays_the_deployments_when_only_limits_are_set(self, live, settings):
        make_member(live, email="two@live.example")
        wanted = {**caps.default(live.mode)}
        wanted.popitem()
        limit_settings.change(
            tenant_id=live.pk,
            wanted={**caps.NONE, **wanted},
            actor=SYSTEM,
            now=NOW,
        )
        settings.PAYMENT_APPROVAL_ABOVE = 77

        assert self.limit(live) == 77
