"""A lone owner who came back by a mailbox or by our support is new for a day (decision 0169)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals.errors import NewApprover
from payments.errors import PayerIsNew
from payments.models import Payment
from payments.services import orders, recipients
from tenants.actors import SYSTEM, api_key, staff, user
from tenants.models import OutgoingEmail, Role
from tenants.services import closing, keys
from tests.builders import NOW, make_member, make_staff
from tests.payments.asking import OWNER, approve_signed_in
from tests.payments.asking import pay_account as order
from tests.payments.builders import account, fund

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=24)
A_MOMENT = timedelta(microseconds=1)
LIMIT = 1_000
LARGE = 24_000


@pytest.fixture
def live(limited, settings):
    """Recipients are not new."""
    settings.RECIPIENT_COOL_DOWN_HOURS = 0
    return limited


@pytest.fixture
def owner(lone_owner):
    return lone_owner


@pytest.fixture(params=["person", "key"])
def payer(request, live, owner):
    """The owner, or a key of theirs from before."""
    if request.param == "person":
        return user(owner.pk)
    return api_key(keys.issue(tenant=live, name="server", actor=user(owner.pk), now=NOW).key.pk)


class TestPaying:
    """Found: a stolen mailbox of a lone owner paid any amount at once."""

    def test_what_needs_a_second_person_waits_a_day(self, live, owner, payer):
        closing.password_reset(user_id=owner.pk, now=NOW)

        with pytest.raises(PayerIsNew) as refused:
            order(live, payer, now=NOW + DAY - A_MOMENT)
        assert refused.value.extra == {"possible_from": "2026-11-21T15:00:00.000000Z"}
        assert "Nov 21, 2026, 10:00 AM EST" in refused.value.detail
        assert not Payment.objects.exists()

        assert not order(live, payer, now=NOW + DAY).requires_confirmation

    def test_so_does_a_new_recipient(self, live, owner, payer, settings):
        settings.RECIPIENT_COOL_DOWN_HOURS = 24
        closing.password_reset(user_id=owner.pk, now=NOW)

        with pytest.raises(PayerIsNew):
            order(live, payer, 1)

    def test_what_is_below_the_limits_goes_on(self, live, owner, payer):
        closing.password_reset(user_id=owner.pk, now=NOW)

        assert not order(live, payer, LIMIT).requires_confirmation

    def test_so_it_is_after_our_support_opened_the_account_again(self, live, owner):
        support = staff(make_staff("sam@ballast.example").pk)
        closing.close(user_id=owner.pk, actor=support, now=NOW)
        closing.reopen(user_id=owner.pk, actor=support, now=NOW + DAY)

        with pytest.raises(PayerIsNew):
            order(live, user(owner.pk), now=NOW + DAY)
        assert not order(live, user(owner.pk), now=NOW + 2 * DAY).requires_confirmation

    def test_the_review_says_so(self, live, owner):
        saved = recipients.save(tenant_id=live.pk, details=account("000222"), actor=SYSTEM, now=NOW)
        closing.password_reset(user_id=owner.pk, now=NOW)

        with pytest.raises(PayerIsNew):
            orders.preview(
                tenant_id=live.pk,
                mode=live.mode,
                order=orders.Order(amount=LARGE, recipient=saved.pk),
                actor=user(owner.pk),
                now=NOW,
            )

    def test_the_sandbox_does_not_wait(self, acme):
        dana = make_member(acme, email=OWNER, role=Role.OWNER)
        fund(acme, 100_000)

        closing.password_reset(user_id=dana.pk, now=NOW)

        assert not order(acme, user(dana.pk)).requires_confirmation


def test_approving_what_others_pay_waits_too(live, owner):
    lee = make_member(live, email="lee@live.example", role=Role.MEMBER)
    payment = order(live, user(lee.pk), 5_000)
    closing.password_reset(user_id=owner.pk, now=NOW)

    with pytest.raises(NewApprover):
        approve_signed_in(payment, owner, now=NOW + DAY - A_MOMENT)


def test_a_recipient_that_they_save_is_mailed(live, owner):
    closing.password_reset(user_id=owner.pk, now=NOW)
    recipients.save(tenant_id=live.pk, details=account("000222"), actor=user(owner.pk), now=NOW)

    told = OutgoingEmail.objects.filter(template="access_changed").latest("pk")
    assert told.context["what"] == "Recipient Supplier LLC was added"
