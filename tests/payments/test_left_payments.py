"""Payments that somebody ordered who was removed before they left (decision 0192)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import answers
from approvals.errors import NotAnApprover
from approvals.policies import Approver
from payments.models import Payment, PaymentConfirmation
from payments.services import approvals, orders, waiting
from payments.states import PaymentStatus
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, api_key, staff, user
from tenants.models import AuditEvent, OutgoingEmail, Role
from tenants.services import accounts, closing, keys, members
from tests.builders import NOW, make_member, make_staff, make_tenant
from tests.payments.asking import DANA, LEE
from tests.payments.builders import account, fund
from transfers import holds, submission

pytestmark = pytest.mark.usefixtures("books_balance")

MINUTE = timedelta(minutes=1)
LATER = NOW + MINUTE
SMALL = 900


def pay(tenant, actor, *, amount=SMALL, wait=False, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(), wait_for_funds=wait),
        actor=actor,
        now=now,
    )


def leave(how, person, by, **more):
    membership = person.memberships.get()
    ids = {"tenant_id": membership.tenant_id, "membership_id": membership.pk}
    if how == "removed":
        members.remove(**ids, actor=user(by.pk), now=LATER, **more)
    elif how == "demoted":
        members.change_role(**ids, role=Role.APPROVER, actor=user(by.pk), now=LATER, **more)
    elif how == "closed":
        sam = make_staff("sam@ballast.example")
        closing.close(user_id=person.pk, actor=staff(sam.pk), now=LATER)
    else:
        accounts.create_member(
            tenant_id=membership.tenant_id,
            email=person.email,
            role=Role.VIEWER,
            password=None,
            actor=SYSTEM,
            now=LATER,
        )


def run(tenant, *, now=LATER):
    """All that would send what can be sent."""
    waiting.run(tenant_id=tenant.pk, now=now)
    submission.submit_due(PAYMENTS, now=now)


def standing(payment):
    payment.refresh_from_db()
    return payment.status, payment.awaits_confirmation


def answer(payment, person, *, now=LATER):
    answers.approve_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=PaymentConfirmation.objects.get(payment=payment).pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        typed_amount="9",
        now=now,
    )


EVERY_WAY = pytest.mark.parametrize("how", ["removed", "demoted", "closed", "at the command line"])


@EVERY_WAY
def test_what_waits_for_money_waits_for_a_second_person_too(team, dana, lee, how):
    payment = pay(team, user(lee.pk), wait=True)

    leave(how, lee, dana)
    fund(team, 100_000)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)
    assert payment.next_attempt_at is None


@EVERY_WAY
def test_what_was_not_sent_yet_waits_for_a_second_person(team, dana, lee, how):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))

    leave(how, lee, dana)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_a_lone_owner_who_is_followed_by_another_is_not_exempt_after_it(team, dana):
    payment = pay(team, user(dana.pk), amount=500_000, wait=True)
    lee = make_member(team, email=LEE, role=Role.OWNER)

    leave("removed", dana, lee)
    fund(team, 1_000_000)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)


@pytest.mark.parametrize("kept", [True, False], ids=["taken over", "revoked"])
def test_what_their_keys_ordered_waits_too(team, dana, lee, kept):
    key = keys.issue(tenant=team, name="Server", actor=user(lee.pk), now=NOW).key
    payment = pay(team, api_key(key.pk), wait=True)

    leave("removed", lee, dana, take_over=[key.pk] if kept else [])
    fund(team, 100_000)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_a_remaining_approver_lets_it_leave(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))
    leave("removed", lee, dana)

    answer(payment, dana)
    run(team)

    assert standing(payment) == (PaymentStatus.PROCESSING, False)


def test_who_ordered_it_does_not_approve_it(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))
    leave("demoted", lee, dana)

    with pytest.raises(NotAnApprover):
        answer(payment, lee)
    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_those_who_approve_are_asked(team, dana, lee):
    payment = pay(team, user(lee.pk), wait=True)
    leave("removed", lee, dana)

    approvals.sweep(now=LATER)

    asked = OutgoingEmail.objects.get(template="confirmation_request")
    approval = PaymentConfirmation.objects.get(payment=payment)
    assert (asked.to, approval.approvers) == (DANA, [DANA])
    assert approval.reason == (
        "Whoever ordered this was removed from the team afterwards, so somebody else approves it."
        f" Ordered by {LEE}."
    )


def test_nobody_answers_and_it_fails(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))
    leave("removed", lee, dana)

    approvals.sweep(now=LATER + timedelta(hours=72))

    assert standing(payment) == (PaymentStatus.FAILED, False)
    assert payment.failure_code == "confirmation_expired"


def test_what_staff_hold_waits_for_both(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))
    sam = staff(make_staff("sam@ballast.example").pk)
    holds.hold(PAYMENTS, payment.pk, reason="Odd", actor=sam, now=NOW)
    leave("removed", lee, dana)

    holds.release(PAYMENTS, payment.pk, reason="Fine", actor=sam, now=LATER)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_what_was_held_back_for_missing_money_waits(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(lee.pk))
    Payment.objects.filter(pk=payment.pk).update(
        next_attempt_at=None, held_back_at=NOW, expected_arrival_date=None
    )

    leave("removed", lee, dana)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_what_a_second_person_approved_goes_on(team, dana, lee):
    payment = pay(team, user(lee.pk), amount=90_000, wait=True)
    answers.approve_signed_in(
        tenant_id=team.pk,
        approval_id=PaymentConfirmation.objects.get(payment=payment).pk,
        by=Approver(email=DANA, actor=user(dana.pk)),
        typed_amount="900",
        now=NOW,
    )

    leave("removed", lee, dana)
    fund(team, 100_000)
    run(team)

    assert standing(payment) == (PaymentStatus.PROCESSING, False)


def test_what_others_ordered_goes_on(team, dana, lee):
    fund(team, 100_000)
    payment = pay(team, user(dana.pk))

    leave("removed", lee, dana)
    run(team)

    assert standing(payment) == (PaymentStatus.PROCESSING, False)


def test_what_they_ordered_elsewhere_goes_on(team, dana, lee):
    other = make_tenant(name="Other")
    fund(other, 100_000)
    payment = pay(other, user(lee.pk))

    leave("removed", lee, dana)
    run(other)

    assert standing(payment) == (PaymentStatus.PROCESSING, False)


def test_who_removes_them_cancels_what_they_choose(team, dana, lee):
    fund(team, 100_000)
    gone, stays = pay(team, user(lee.pk)), pay(team, user(lee.pk), amount=50)

    leave("removed", lee, dana, cancel=[gone.pk])

    assert standing(gone) == (PaymentStatus.CANCELED, False)
    assert standing(stays) == (PaymentStatus.CREATED, True)
    assert gone.history.get(to_status="canceled").actor_id == dana.pk
    facts = OutgoingEmail.objects.get(template="access_changed", to=DANA).context["facts"]
    assert {"label": "Payments that wait for approval", "value": "1"} in facts
    assert {"label": "Payments canceled", "value": "1"} in facts


def test_nobody_cancels_what_others_ordered(team, dana, lee):
    fund(team, 100_000)
    others = pay(team, user(dana.pk))

    leave("removed", lee, dana, cancel=[others.pk])

    assert standing(others) == (PaymentStatus.CREATED, False)


def test_an_approval_that_was_open_stays_open_and_can_be_canceled(team, dana, lee):
    fund(team, 200_000)
    stays, gone = (pay(team, user(lee.pk), amount=90_000) for _ in range(2))

    leave("removed", lee, dana, cancel=[gone.pk])

    assert standing(stays) == (PaymentStatus.CREATED, True)
    assert standing(gone) == (PaymentStatus.CANCELED, False)


def test_the_audit_log_says_so(team, dana, lee):
    payment = pay(team, user(lee.pk), wait=True)

    leave("removed", lee, dana)

    line = AuditEvent.objects.get(action="confirmation.required", subject_id=payment.pk)
    assert (line.actor_id, line.details["amount"]) == (dana.pk, SMALL)
