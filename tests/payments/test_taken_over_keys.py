"""What a key pays that somebody else had before (decision 0192): whoever had it knows its text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import answers
from approvals.errors import NotAnApprover, OwnPayment
from approvals.policies import Approver
from payments.models import PaymentConfirmation
from tenants.actors import SYSTEM, api_key, user
from tenants.models import Role
from tenants.services import keys, members
from tests.builders import NOW, make_member
from tests.payments.asking import pay_account

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=24)
MINUTE = timedelta(minutes=1)
DANA, LEE = "dana@acme.example", "lee@acme.example"


@pytest.fixture
def live(limited, settings):
    """Recipients are not new."""
    settings.RECIPIENT_COOL_DOWN_HOURS = 0
    return limited


@pytest.fixture
def dana(live):
    return make_member(live, email=DANA, role=Role.OWNER)


@pytest.fixture
def lee(live, dana):
    return make_member(live, email=LEE, role=Role.OWNER)


@pytest.fixture
def key(live, lee):
    """Made by Lee."""
    return keys.issue(tenant=live, name="Server", actor=user(lee.pk), now=NOW).key


@pytest.fixture
def taken(live, dana, lee, key):
    """Lee's key, which Dana took over as she removed Lee: she is alone since."""
    members.remove(
        tenant_id=live.pk,
        membership_id=lee.memberships.get().pk,
        take_over=[key.pk],
        actor=user(dana.pk),
        now=NOW,
    )
    return key


def pay(tenant, key, *, now):
    return pay_account(tenant, api_key(key.pk), now=now)


def asked_about(payment):
    """Who is asked about the payment; None: nobody."""
    found = PaymentConfirmation.objects.filter(payment=payment).first()
    return found.approvers if found else None


def approve(payment, person, *, now):
    approval = PaymentConfirmation.objects.get(payment=payment)
    answers.approve_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=approval.pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        typed_amount="240",
        now=now,
    )
    approval.refresh_from_db()
    return approval.decision, approval.decided_by


def test_a_key_that_was_taken_over_does_not_pay_as_the_lone_owner(live, dana, taken):
    """Found: in its former owner's hands it paid any amount, and nobody was asked."""
    payment = pay(live, taken, now=NOW + DAY + MINUTE)

    assert asked_about(payment) == [DANA]


def test_who_took_it_over_and_is_alone_approves(live, dana, taken):
    payment = pay(live, taken, now=NOW + DAY + MINUTE)

    assert approve(payment, dana, now=NOW + DAY + MINUTE) == ("approved", DANA)


def test_who_is_alone_since_a_moment_approves_a_day_later(live, dana, taken):
    payment = pay(live, taken, now=NOW + MINUTE)

    with pytest.raises(OwnPayment):
        approve(payment, dana, now=NOW + DAY - MINUTE)
    assert approve(payment, dana, now=NOW + DAY) == ("approved", DANA)


def test_who_is_not_alone_has_somebody_else_approve(live, dana, taken):
    ann = make_member(live, email="ann@acme.example", role=Role.APPROVER)
    payment = pay(live, taken, now=NOW + DAY + MINUTE)

    assert asked_about(payment) == ["ann@acme.example"]
    with pytest.raises(NotAnApprover):
        approve(payment, dana, now=NOW + DAY + MINUTE)
    assert approve(payment, ann, now=NOW + DAY + MINUTE) == ("approved", "ann@acme.example")


def test_the_one_who_is_left_approves_nothing_of_a_key_of_their_own(live, dana):
    """They are exempt; and where they are not, as an approver, they ask nobody."""
    own = keys.issue(tenant=live, name="Own", actor=user(dana.pk), now=NOW).key

    assert asked_about(pay(live, own, now=NOW)) is None


def test_after_a_rotation_nobody_else_knows_its_text(live, dana, taken):
    fresh = keys.rotate(key=taken, overlap=timedelta(0), actor=user(dana.pk), now=NOW + DAY)

    assert asked_about(pay(live, fresh.key, now=NOW + DAY + MINUTE)) is None


def test_two_who_had_it_and_are_both_left_approve_nothing(live, dana, lee, key):
    members.change_role(
        tenant_id=live.pk,
        membership_id=lee.memberships.get().pk,
        role=Role.APPROVER,
        take_over=[key.pk],
        actor=user(dana.pk),
        now=NOW,
    )
    payment = pay(live, key, now=NOW + DAY + MINUTE)

    assert asked_about(payment) == []
    for person in (dana, lee):
        with pytest.raises(NotAnApprover):
            approve(payment, person, now=NOW + DAY + MINUTE)


class TestRotation:
    """Found: whoever had made a key approved what it paid once another owner had rotated it."""

    def test_who_made_the_key_before_it_is_not_asked(self, live, dana, lee, key):
        fresh = keys.rotate(key=key, overlap=timedelta(0), actor=user(dana.pk), now=NOW).key

        payment = pay(live, fresh, now=NOW)

        assert asked_about(payment) == []
        with pytest.raises(NotAnApprover):
            approve(payment, lee, now=NOW)

    def test_nor_after_a_second_rotation(self, live, dana, lee, key):
        ann = make_member(live, email="ann@acme.example", role=Role.OWNER)
        make_member(live, email="ben@acme.example", role=Role.APPROVER)
        for person in (dana, ann):
            key = keys.rotate(key=key, overlap=timedelta(0), actor=user(person.pk), now=NOW).key

        assert asked_about(pay(live, key, now=NOW)) == ["ben@acme.example"]

    def test_a_key_of_operators_that_an_owner_rotated_is_theirs(self, live, dana, lee):
        ours = keys.issue(tenant=live, name="Ours", actor=SYSTEM, now=NOW).key
        fresh = keys.rotate(key=ours, overlap=timedelta(0), actor=user(dana.pk), now=NOW).key

        assert asked_about(pay(live, fresh, now=NOW)) == [LEE]
