"""Whose word is left when somebody leaves: nobody is their own second person, and a lone owner is
asked of nobody else (decision 0196)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import answers
from approvals.errors import NotAnApprover, OwnPayment
from approvals.models import ApprovalStatus
from approvals.policies import Approver
from payments import selectors
from payments.api import presenters
from payments.services import approval_policy, approvals
from payments.states import PaymentStatus
from tenants.actors import api_key, staff, user
from tenants.models import OutgoingEmail, Role
from tenants.services import closing, keys, members
from tests.builders import NOW, make_member, make_staff
from tests.payments.asking import DANA
from tests.payments.builders import fund
from tests.payments.test_left_payments import LATER, MINUTE, leave, pay, run, standing

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=24)
ANN = "ann@acme.example"
MUCH = 90_000


def remove(person, by, *, now, **more):
    membership = person.memberships.get()
    members.remove(
        tenant_id=membership.tenant_id,
        membership_id=membership.pk,
        actor=user(by.pk),
        now=now,
        **more,
    )


def revoke_key_of(payment, by):
    """Revoke the key that ordered it."""
    keys.revoke(key_id=payment.created_by_id, actor=user(by.pk), now=NOW + DAY + MINUTE)


def approve(payment, person, *, now, typed="900"):
    answers.approve_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=selectors.approvals(payment).get(decision=ApprovalStatus.OPEN).pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        typed_amount=typed,
        now=now,
    )


def shown(payment):
    """What programs are told of its approval."""
    row = selectors.payment(tenant_id=payment.tenant_id, payment_id=payment.pk)
    return presenters.payment(row)["approval"]


class TestOwnApproval:
    """Found: what the one person behind a key approved went on after they were removed."""

    @pytest.fixture
    def payment(self, team, dana, lee):
        """Ordered by a key that Dana took over from Lee, and approved by Dana, who is alone."""
        key = keys.issue(tenant=team, name="Server", actor=user(lee.pk), now=NOW).key
        remove(lee, dana, now=NOW, take_over=[key.pk])
        payment = pay(team, api_key(key.pk), amount=MUCH, wait=True, now=NOW + DAY)
        approve(payment, dana, now=NOW + DAY)
        return payment

    @pytest.fixture
    def ann(self, team, payment):
        return make_member(team, email=ANN, role=Role.OWNER)

    def test_is_no_second_persons_once_they_are_removed(self, team, dana, payment, ann):
        remove(dana, ann, now=NOW + DAY + MINUTE)
        fund(team, 100_000)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.CREATED, True)
        assert [each.decision for each in selectors.approvals(payment)] == ["approved", "open"]
        assert shown(payment)["status"] == "open"

    def test_somebody_else_approves_after_it(self, team, dana, payment, ann):
        remove(dana, ann, now=NOW + DAY + MINUTE)
        fund(team, 100_000)

        with pytest.raises(NotAnApprover):
            approve(payment, dana, now=NOW + DAY + MINUTE)
        approve(payment, ann, now=NOW + DAY + MINUTE)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)
        decided = [each.decided_by for each in selectors.approvals(payment)]
        assert decided == [DANA, ANN]
        assert shown(payment)["decidedBy"]["id"] == ANN

    def test_nobody_answers_and_it_fails(self, team, dana, payment, ann):
        remove(dana, ann, now=NOW + DAY + MINUTE)

        approvals.sweep(now=NOW + DAY + MINUTE + timedelta(hours=72))

        assert standing(payment) == (PaymentStatus.FAILED, False)
        assert shown(payment)["status"] == "expired"

    def test_is_canceled_by_who_removes_them(self, team, dana, payment, ann):
        remove(dana, ann, now=NOW + DAY + MINUTE, cancel=[payment.pk])

        assert standing(payment) == (PaymentStatus.CANCELED, False)
        assert [each.decision for each in selectors.approvals(payment)] == ["approved"]

    def test_holds_while_they_stay(self, team, dana, payment, ann):
        """The removal of somebody else, who had the key once, does not touch it."""
        lee = make_member(team, email="lee-again@acme.example", role=Role.OWNER)
        remove(lee, ann, now=NOW + DAY + MINUTE)
        fund(team, 100_000)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_of_a_true_second_person_holds(self, team, dana, lee):
        """Lee approves what Dana ordered. Both leave one after the other."""
        ann = make_member(team, email=ANN, role=Role.OWNER)
        payment = pay(team, user(dana.pk), amount=MUCH, wait=True)
        approve(payment, lee, now=NOW)
        for person in (lee, dana):
            remove(person, ann, now=LATER)
        fund(team, 100_000)
        run(team)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_is_no_second_persons_once_their_key_is_revoked(self, team, dana, payment, ann):
        """Found: what the one person behind a key approved went on after another owner revoked
        it."""
        revoke_key_of(payment, ann)
        fund(team, 100_000)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.CREATED, True)
        assert approval_policy.approvers(payment) == [ANN]

    def test_holds_while_nobody_else_could_approve_what_the_revoked_key_ordered(
        self, team, dana, payment
    ):
        revoke_key_of(payment, dana)
        fund(team, 100_000)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_of_a_true_second_person_holds_after_the_key_is_revoked(self, team, dana, lee):
        key = keys.issue(tenant=team, name="Server", actor=user(dana.pk), now=NOW).key
        payment = pay(team, api_key(key.pk), amount=MUCH, wait=True)
        approve(payment, lee, now=NOW)
        revoke_key_of(payment, dana)
        fund(team, 100_000)
        run(team, now=NOW + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)


class TestLoneOwner:
    """Found: what a lone owner's own key had ordered waited for nobody, and failed."""

    @pytest.fixture
    def payment(self, team, dana, lee):
        """Ordered by a key that Dana made in the place of Lee's. Then Dana removes Lee."""
        old = keys.issue(tenant=team, name="Server", actor=user(lee.pk), now=NOW).key
        new = keys.rotate(key=old, overlap=timedelta(0), actor=user(dana.pk), now=NOW).key
        payment = pay(team, api_key(new.pk), amount=900, wait=True)
        remove(lee, dana, now=LATER)
        payment.refresh_from_db()
        return payment

    def test_is_asked_about_a_key_that_they_rotated(self, team, dana, payment):
        approvals.sweep(now=LATER)

        assert payment.second_look_at == LATER
        assert approval_policy.approvers(payment) == [DANA]
        assert OutgoingEmail.objects.get(template="confirmation_request").to == DANA

    def test_approves_it_a_day_after_the_other_one_left(self, team, dana, payment):
        fund(team, 100_000)

        with pytest.raises(OwnPayment):
            approve(payment, dana, now=LATER + DAY - MINUTE, typed="9")
        approve(payment, dana, now=LATER + DAY, typed="9")
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_is_asked_of_nobody_once_there_is_somebody_else(self, team, dana, payment):
        make_member(team, email=ANN, role=Role.APPROVER)

        assert approval_policy.approvers(payment) == [ANN]
        with pytest.raises(NotAnApprover):
            approve(payment, dana, now=LATER + DAY, typed="9")

    def test_decides_what_they_ordered_before_their_account_was_closed(self, team, dana):
        payment = pay(team, user(dana.pk), amount=MUCH, wait=True)
        sam = staff(make_staff("sam@ballast.example").pk)
        closing.close(user_id=dana.pk, actor=sam, now=LATER)
        payment.refresh_from_db()
        assert approval_policy.approvers(payment) == []

        closing.reopen(user_id=dana.pk, actor=sam, now=LATER)

        assert approval_policy.approvers(payment) == [DANA]
        approve(payment, dana, now=LATER + DAY)
        approval = selectors.approvals(payment).get()
        assert (approval.decision, approval.decided_by) == (ApprovalStatus.APPROVED, DANA)

    def test_decides_what_was_asked_about_before_the_other_one_left(self, team, dana, lee):
        """Found: it failed after 72 hours, and a new order would have been asked of nobody."""
        payment = pay(team, user(dana.pk), amount=MUCH, wait=True)
        remove(lee, dana, now=LATER)
        fund(team, 100_000)

        assert approval_policy.approvers(payment) == [DANA]
        with pytest.raises(OwnPayment):
            approve(payment, dana, now=LATER + DAY - MINUTE)
        approve(payment, dana, now=LATER + DAY)
        run(team, now=LATER + DAY)
        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_decides_what_a_rotated_key_had_asked_about(self, team, dana, lee):
        old = keys.issue(tenant=team, name="Server", actor=user(lee.pk), now=NOW).key
        new = keys.rotate(key=old, overlap=timedelta(0), actor=user(dana.pk), now=NOW).key
        payment = pay(team, api_key(new.pk), amount=MUCH, wait=True)
        assert approval_policy.approvers(payment) == []

        remove(lee, dana, now=LATER)

        assert approval_policy.approvers(payment) == [DANA]

    def test_stops_nothing_unasked_by_revoking_a_key_of_which_something_is_asked(
        self, team, dana, lee
    ):
        key = keys.issue(tenant=team, name="Server", actor=user(dana.pk), now=NOW).key
        asked = pay(team, api_key(key.pk), amount=MUCH, wait=True)
        unasked = pay(team, api_key(key.pk), amount=900, wait=True)
        remove(lee, dana, now=LATER)

        revoke_key_of(asked, dana)

        assert standing(asked)[1]
        assert not standing(unasked)[1]

    def test_is_an_owner(self, team, dana, lee):
        """An approver who is left alone does not let go what they ordered as an owner."""
        payment = pay(team, user(lee.pk), wait=True)
        leave("demoted", lee, dana)
        sam = staff(make_staff("sam@ballast.example").pk)
        closing.close(user_id=dana.pk, actor=sam, now=LATER)

        payment.refresh_from_db()
        assert approval_policy.approvers(payment) == []
