"""Nobody lowers the protection of payments alone: a second person agrees, or a day goes by."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals.errors import ApprovalClosed, NotAnApprover
from payments.models import PaymentSettings
from payments.services import approval_settings, approvals
from tenants.actors import SYSTEM, staff, user
from tenants.models import AuditEvent, Role, User
from tenants.services import members
from tests.builders import NOW, mails_of, make_member, make_tenant
from tests.payments.builders import fund, pay

DAY = timedelta(hours=24)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def acme(live):
    return live


@pytest.fixture
def rule(acme, owner):
    """Payments above $10.00 need a second person, and the owner is alone."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(acme, 10_000)
    return acme


@pytest.fixture
def asked(rule, owner, checker):
    """The owner wants nobody to be asked any more."""
    return change(rule, owner, None)


@pytest.fixture
def owner_of_two(db):
    """A sandbox tenant with a limit of $10.00 and two owners, one of them."""
    sandbox = make_tenant()
    people = [
        make_member(sandbox, email=f"{name}@test.example", role=Role.OWNER)
        for name in ("person", "another")
    ]
    approval_settings.set_threshold(tenant_id=sandbox.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    return sandbox, people[0]


def change(tenant, person, threshold, *, now=NOW):
    return approval_settings.set_threshold(
        tenant_id=tenant.pk, threshold=threshold, actor=user(person.pk), now=now
    )


def limit(tenant, *, now=NOW):
    return approvals.approval_threshold(tenant_id=tenant.pk, mode=tenant.mode, now=now)


def actions(tenant):
    events = AuditEvent.objects.filter(tenant=tenant, action__startswith="payments.")
    rows = events.order_by("pk")
    return [(event.action.partition("_threshold_")[2], event.details) for event in rows]


class TestLoosening:
    @pytest.mark.parametrize("threshold", [None, 1_001])
    def test_counts_a_day_later(self, rule, owner, checker, threshold):
        saved = change(rule, owner, threshold)

        assert saved.next_at == NOW + DAY
        assert limit(rule, now=NOW + DAY - A_MOMENT) == 1_000
        assert limit(rule, now=NOW + DAY) == threshold

    def test_protects_what_is_paid_before(self, asked, rule):
        assert pay(rule, 5_000, now=NOW + DAY - A_MOMENT).requires_confirmation
        assert not pay(rule, 5_000, now=NOW + DAY).requires_confirmation

    def test_is_told_to_all_who_approve(self, asked, rule):
        assert mails_of(rule, "safeguard_waiting") == ["checker@acme.example", "owner@acme.example"]
        assert mails_of(rule, "safeguard_changed") == []
        assert actions(rule)[-1] == ("asked", {"from": 1_000, "to": None})

    def test_by_support_waits_too(self, rule, owner):
        helper = User.objects.create_user(email="sam@ballast.example", is_staff=True)
        saved = approval_settings.set_threshold(
            tenant_id=rule.pk, threshold=None, actor=staff(helper.pk), now=NOW
        )

        assert saved.next_at == NOW + DAY
        assert limit(rule) == 1_000

    def test_by_the_only_one_counts_at_once(self, rule, owner):
        assert change(rule, owner, None).next_at is None
        assert limit(rule) is None

    def test_is_not_made_immediate_by_removing_the_others(self, rule, owner, checker):
        membership = checker.memberships.get()
        members.remove(
            tenant_id=rule.pk, membership_id=membership.pk, actor=user(owner.pk), now=NOW
        )

        soon = NOW + DAY - A_MOMENT
        assert change(rule, owner, None, now=soon).next_at == soon + DAY

        change(rule, owner, 1_000, now=NOW + DAY)
        assert change(rule, owner, None, now=NOW + DAY).next_at is None

    def test_from_the_command_line_counts_at_once(self, rule, checker):
        approval_settings.set_threshold(tenant_id=rule.pk, threshold=None, actor=SYSTEM, now=NOW)

        assert limit(rule) is None


def test_loosening_waits_for_nobody_in_the_sandbox(owner_of_two):
    tenant, person = owner_of_two

    assert change(tenant, person, None).next_at is None

    assert limit(tenant) is None
    assert mails_of(tenant, "safeguard_changed") == [
        "another@test.example",
        "person@test.example",
    ]
    assert mails_of(tenant, "safeguard_waiting") == []


class TestTightening:
    @pytest.mark.parametrize("threshold", [0, 999])
    def test_counts_at_once_and_ends_what_waits(self, asked, rule, owner, threshold):
        change(rule, owner, threshold)

        assert limit(rule) == threshold
        assert limit(rule, now=NOW + 2 * DAY) == threshold

    def test_to_the_limit_as_it_is_takes_the_change_back(self, asked, rule, owner):
        change(rule, owner, 1_000)

        assert limit(rule, now=NOW + 2 * DAY) == 1_000
        assert actions(rule)[-1] == ("kept", {"from": 1_000, "to": None})


class TestSecondPerson:
    def test_lets_it_count_at_once(self, asked, rule, checker):
        approval_settings.agree(tenant_id=rule.pk, actor=user(checker.pk), now=NOW)

        assert limit(rule) is None
        assert actions(rule)[-1] == ("changed", {"from": 1_000, "to": None})
        assert mails_of(rule, "safeguard_changed") == ["checker@acme.example", "owner@acme.example"]

    def test_is_not_who_asked(self, asked, rule, owner):
        with pytest.raises(NotAnApprover):
            approval_settings.agree(tenant_id=rule.pk, actor=user(owner.pk), now=NOW)

        assert limit(rule) == 1_000

    def test_refuses_it(self, asked, rule, checker):
        approval_settings.refuse(tenant_id=rule.pk, actor=user(checker.pk), now=NOW)

        assert limit(rule, now=NOW + 2 * DAY) == 1_000
        assert actions(rule)[-1] == ("kept", {"from": 1_000, "to": None})

    @pytest.mark.parametrize("act", [approval_settings.agree, approval_settings.refuse])
    def test_is_too_late_when_it_counts(self, asked, rule, checker, act):
        with pytest.raises(ApprovalClosed):
            act(tenant_id=rule.pk, actor=user(checker.pk), now=NOW + DAY)

        assert limit(rule, now=NOW + DAY) is None

    def test_finds_nothing_where_nothing_waits(self, rule, checker):
        with pytest.raises(ApprovalClosed):
            approval_settings.agree(tenant_id=rule.pk, actor=user(checker.pk), now=NOW)


def test_what_has_come_true_is_the_limit_to_compare_with(asked, rule, owner):
    later = NOW + 2 * DAY

    change(rule, owner, 2_000, now=later)

    row = PaymentSettings.objects.get()
    assert (row.approval_threshold, row.next_at) == (2_000, None)
    assert actions(rule)[-1] == ("changed", {"from": None, "to": 2_000})
