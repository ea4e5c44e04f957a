"""A new recipient of a live tenant: a second person approves what is paid to it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from payments.models import PaymentConfirmation
from payments.services import approval_settings, cool_down, cool_down_settings, orders, recipients
from tenants.actors import SYSTEM, user
from tenants.models import Mode, Role
from tests.builders import NOW, make_member, make_tenant
from tests.payments.asking import approve_signed_in, decline_signed_in
from tests.payments.builders import account, fund

pytestmark = pytest.mark.usefixtures("books_balance")

HOUR = timedelta(hours=1)
DAY = timedelta(hours=24)


@pytest.fixture
def cooling(acme, owner, checker):
    """A tenant of two whose recipients are new for a day. In the sandbox, so that it can pay."""
    cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
    fund(acme, 100_000)
    return acme


def order(tenant, to="000111", *, actor=SYSTEM, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=5_000, recipient=account(to) if to.isdigit() else to),
        actor=actor,
        now=now,
    )


def save(tenant, to="000111", *, now=NOW):
    return recipients.save(tenant_id=tenant.pk, details=account(to), actor=SYSTEM, now=now)


def is_asked(payment):
    return payment.requires_confirmation


def test_a_payment_to_a_new_account_is_asked_about(cooling):
    assert is_asked(order(cooling))
    reason = PaymentConfirmation.objects.get().reason
    assert reason.startswith(
        "The recipient is new until Nov 21, 2026, 10:00 AM EST: a second person"
    )


def test_a_saved_one_is_new_for_a_day(cooling):
    saved = save(cooling)

    assert is_asked(order(cooling, saved.pk, now=NOW + DAY - HOUR))
    assert not is_asked(order(cooling, save(cooling, "000222").pk, now=NOW + DAY))


def test_an_account_that_is_saved_is_known_when_it_comes_with_a_payment(cooling):
    save(cooling)

    assert not is_asked(order(cooling, now=NOW + DAY))
    assert is_asked(order(cooling, "000222", now=NOW + DAY))


def test_an_account_is_known_in_every_spelling(cooling):
    """It was saved a day ago, so nobody is asked; and no spelling makes it new."""
    save(cooling, "AB-1234")

    later = save(cooling, "999111", now=NOW + DAY)  # another account, which is new
    payments = [
        orders.place(
            tenant_id=cooling.pk,
            mode=cooling.mode,
            order=orders.Order(amount=5_000, recipient=account(number)),
            actor=SYSTEM,
            now=NOW + DAY,
        )
        for number in ("ab1234", "aB-1234", "AB1234")
    ]

    assert [is_asked(payment) for payment in payments] == [False, False, False]
    assert is_asked(order(cooling, later.pk, now=NOW + DAY))


def test_an_account_that_was_paid_a_day_ago_is_known(cooling):
    order(cooling)

    assert is_asked(order(cooling, now=NOW + DAY))
    assert not is_asked(order(cooling, now=NOW + DAY + HOUR))


def test_a_payment_that_was_withdrawn_makes_nobody_known(cooling):
    first = order(cooling)
    orders.cancel(tenant_id=cooling.pk, payment_id=first.pk, actor=SYSTEM, now=NOW)

    assert is_asked(order(cooling, now=NOW + 2 * DAY))


def test_the_first_approval_ends_it(cooling, owner, checker):
    first = order(cooling, actor=user(owner.pk))
    assert is_asked(order(cooling, actor=user(owner.pk)))

    approve_signed_in(first, checker)

    assert not is_asked(order(cooling, actor=user(owner.pk), now=NOW + HOUR))
    assert is_asked(order(cooling, "000222", now=NOW + HOUR))


def test_an_owner_who_is_alone_is_asked_about_what_others_pay(acme, owner):
    cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
    fund(acme, 20_000)
    lee = make_member(acme, email="lee@acme.example", role=Role.MEMBER)

    assert is_asked(order(acme, actor=user(lee.pk)))
    assert is_asked(order(acme))
    assert not is_asked(order(acme, actor=user(owner.pk)))


def test_live_tenants_have_it_and_the_sandbox_does_not(acme, owner, checker):
    live = make_tenant(name="Live", mode=Mode.LIVE)
    assert cool_down.hours(None, mode=live.mode, now=NOW) == 24
    assert cool_down.hours(None, mode=acme.mode, now=NOW) == 0
    for email in ("one@live.example", "two@live.example"):
        make_member(live, email=email, role=Role.OWNER)

    new = cool_down.among_of_tenant(live, [save(live)], actor=SYSTEM, now=NOW)

    assert list(new.values()) == [cool_down.New(NOW + DAY)]


class TestADecline:
    """Found: an account to which a payment had been declined was known a day later."""

    @pytest.fixture
    def saved(self, cooling):
        return save(cooling).pk

    @pytest.fixture
    def declined(self, cooling, saved, owner, checker):
        payment = order(cooling, saved, actor=user(owner.pk))
        decline_signed_in(payment, checker)
        return payment

    def test_keeps_the_recipient_new(self, cooling, saved, declined):
        later = order(cooling, saved, now=NOW + 30 * DAY)

        assert is_asked(later)
        reason = PaymentConfirmation.objects.get(payment=later).reason
        assert reason.startswith(
            "A payment to this recipient was declined, and none is approved yet: a second person"
        )

    def test_keeps_the_account_new_when_it_comes_with_a_payment(self, cooling, declined):
        assert is_asked(order(cooling, now=NOW + 30 * DAY))
        assert not is_asked(order(cooling, save(cooling, "000222").pk, now=NOW + DAY))

    def test_is_over_with_an_approval(self, cooling, saved, declined, owner, checker):
        approve_signed_in(order(cooling, saved, actor=user(owner.pk)), checker)

        assert not is_asked(order(cooling, saved, now=NOW + 30 * DAY))

    def test_is_nothing_after_an_approval(self, cooling, saved, owner, checker):
        first, second = (order(cooling, saved, actor=user(owner.pk)) for _ in range(2))
        approve_signed_in(first, checker)
        decline_signed_in(second, checker)

        assert not is_asked(order(cooling, saved, now=NOW + 30 * DAY))

    def test_of_a_payment_to_a_known_one_makes_nobody_new(self, cooling, saved, owner, checker):
        approval_settings.set_threshold(
            tenant_id=cooling.pk, threshold=1_000, actor=SYSTEM, now=NOW
        )
        large = order(cooling, saved, actor=user(owner.pk), now=NOW + DAY)
        decline_signed_in(large, checker, now=NOW + DAY)
        approval_settings.set_threshold(
            tenant_id=cooling.pk, threshold=None, actor=SYSTEM, now=NOW + DAY
        )

        assert not is_asked(order(cooling, saved, now=NOW + 2 * DAY))

    def test_of_a_rival_makes_nobody_new_here(self, cooling, rival, saved, declined):
        cool_down_settings.set_hours(tenant_id=rival.pk, hours=24, actor=SYSTEM, now=NOW)
        make_member(rival, email="rita@rival.example", role=Role.OWNER)
        fund(rival, 100_000)

        assert not is_asked(order(rival, save(rival).pk, now=NOW + DAY))
