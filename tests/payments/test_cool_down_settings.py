"""Who says for how long recipients are new, and from when it counts."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from approvals.errors import ApprovalClosed, NotAnApprover
from payments.errors import InvalidPaymentRule
from payments.models import PaymentSettings
from payments.services import cool_down, cool_down_settings
from tenants.actors import SYSTEM, user
from tenants.models import AuditEvent, Role
from tests.builders import NOW, mails_of, make_member

DAY = timedelta(hours=24)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def acme(live):
    return live


@pytest.fixture
def a_day(acme):
    """New recipients of a live tenant need a second person for a day."""
    return change(acme, 24).tenant


def change(tenant, hours, person=None, *, now=NOW):
    actor = user(person.pk) if person else SYSTEM
    return cool_down_settings.set_hours(tenant_id=tenant.pk, hours=hours, actor=actor, now=now)


def hours(tenant, *, now=NOW):
    row = PaymentSettings.objects.filter(tenant=tenant).first()
    return cool_down.hours(row, mode=tenant.mode, now=now)


def actions(tenant):
    rows = AuditEvent.objects.filter(tenant=tenant, action__startswith="payments.cool_down")
    return [(row.action.split("_")[-1], row.actor_id, row.details) for row in rows.order_by("pk")]


class TestLonger:
    def test_counts_at_once_and_is_audited(self, a_day, owner, checker):
        change(a_day, 48, owner)

        assert hours(a_day) == 48
        assert actions(a_day)[-1] == ("changed", owner.pk, {"from": 24, "to": 48})
        assert mails_of(a_day, "safeguard_changed") == []

    def test_ends_what_waits(self, a_day, owner, checker):
        change(a_day, 0, owner)
        change(a_day, 48, owner)

        assert hours(a_day, now=NOW + 2 * DAY) == 48


class TestShorter:
    def test_waits_a_day_and_is_mailed(self, a_day, owner, checker):
        row = change(a_day, 1, owner)

        assert row.next_cool_down_at == NOW + DAY
        assert hours(a_day, now=NOW + DAY - A_MOMENT) == 24
        assert hours(a_day, now=NOW + DAY) == 1
        assert mails_of(a_day, "safeguard_waiting") == [checker.email, owner.email]
        assert actions(a_day)[-1] == ("asked", owner.pk, {"from": 24, "to": 1})

    def test_counts_once_a_second_person_agrees(self, a_day, owner, checker):
        change(a_day, 0, owner)

        cool_down_settings.agree(tenant_id=a_day.pk, actor=user(checker.pk), now=NOW)

        assert hours(a_day) == 0
        assert actions(a_day)[-1] == ("changed", checker.pk, {"from": 24, "to": 0})
        assert mails_of(a_day, "safeguard_changed") == [checker.email, owner.email]

    def test_is_not_agreed_to_by_who_asked(self, a_day, owner, checker):
        change(a_day, 0, owner)

        with pytest.raises(NotAnApprover):
            cool_down_settings.agree(tenant_id=a_day.pk, actor=user(owner.pk), now=NOW)

        assert (hours(a_day), actions(a_day)[-1][0]) == (24, "asked")

    def test_is_agreed_to_only_while_it_waits(self, a_day, checker):
        with pytest.raises(ApprovalClosed):
            cool_down_settings.agree(tenant_id=a_day.pk, actor=user(checker.pk), now=NOW)

    @pytest.mark.parametrize("how", ["withdraw", "save"])
    def test_is_taken_back(self, a_day, owner, checker, how):
        change(a_day, 0, owner)

        if how == "withdraw":
            cool_down_settings.withdraw(tenant_id=a_day.pk, actor=user(owner.pk), now=NOW)
        else:
            change(a_day, 24, owner)

        assert hours(a_day, now=NOW + 2 * DAY) == 24
        assert actions(a_day)[-1] == ("kept", owner.pk, {"from": 24, "to": 0})

    def test_by_an_owner_who_is_alone_counts_at_once(self, a_day, owner):
        change(a_day, 0, owner)

        assert hours(a_day) == 0
        assert mails_of(a_day, "safeguard_changed") == [owner.email]

    def test_in_the_sandbox_counts_at_once(self, rival):
        for name in ("one", "two"):
            person = make_member(rival, email=f"{name}@rival.example", role=Role.OWNER)
        change(rival, 24)

        change(rival, 0, person)

        assert hours(rival) == 0

    def test_as_the_deployment_says_is_compared_by_hours(self, acme, owner, checker, settings):
        settings.RECIPIENT_COOL_DOWN_HOURS = 24

        assert change(acme, 23, owner).next_cool_down_at == NOW + DAY
        assert change(acme, 24, owner).next_cool_down_at is None
        assert hours(acme) == 24


@pytest.mark.parametrize("hours_", [-1, 721])
def test_what_is_no_time_is_refused(a_day, hours_):
    with pytest.raises(InvalidPaymentRule):
        change(a_day, hours_)

    assert (hours(a_day), len(actions(a_day))) == (24, 1)


def run(*words):
    call_command("set_payment_cool_down", *words, "--json", stdout=(out := io.StringIO()))
    return out.getvalue()


class TestCommand:
    def test_sets_it_at_once_and_is_audited(self, a_day, owner, checker):
        assert '"coolDownHours": 0' in run("--tenant", a_day.pk, "--hours", "0")

        assert hours(a_day) == 0
        assert actions(a_day)[-1] == ("changed", SYSTEM.id, {"from": 24, "to": 0})

    def test_goes_back_to_what_the_deployment_says(self, a_day, settings):
        settings.RECIPIENT_COOL_DOWN_HOURS = 12
        run("--tenant", a_day.pk)

        assert hours(a_day) == 12

    @pytest.mark.parametrize("hours_", ["-1", "721", "a day"])
    def test_refuses_what_is_no_time(self, a_day, hours_):
        with pytest.raises(CommandError):
            run("--tenant", a_day.pk, f"--hours={hours_}")

        assert (hours(a_day), len(actions(a_day))) == (24, 1)

    def test_refuses_a_tenant_that_is_none(self, db):
        with pytest.raises(CommandError):
            run("--tenant", "tnt_none", "--hours", "1")

        assert not PaymentSettings.objects.exists()
