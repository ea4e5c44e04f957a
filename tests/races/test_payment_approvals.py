"""One payment, many answers at once: one winner, and the money moves accordingly, once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from approvals import answers, links
from approvals.errors import ApprovalClosed, NotAnApprover
from approvals.policies import Approver
from balance import invariants
from common.clock import utc_now
from networks.sandbox.models import SandboxInstruction
from payments.models import Payment, PaymentConfirmation, PaymentEvent
from payments.services import approval_settings, approvals, orders, waiting
from payments.services.approval_policy import POLICY
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, user
from tenants.models import AuditEvent, Membership, OutgoingEmail, Role
from tenants.services import members
from tests.builders import make_member, make_tenant
from tests.payments.builders import fund, funds_of, pay, postings_of, run_due, status_of
from tests.races.together import rounds, together, wait_for_a_lock
from transfers import submission
from transfers.errors import NotCancelable

pytestmark = pytest.mark.django_db(transaction=True)

BOSS = "boss@acme.example"


@pytest.fixture
def tenant(db):
    tenant = make_tenant()
    make_member(tenant, email=BOSS, role=Role.OWNER)
    make_member(tenant, email="cfo@acme.example", role=Role.APPROVER)
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=utc_now())
    fund(tenant, 1_000)
    return tenant


@pytest.fixture(autouse=True)
def books_balance(tenant):
    """Whoever won, the books agree with it."""
    yield
    assert invariants.check(now=utc_now(), full=True).findings == []


@pytest.fixture
def payment(tenant):
    return pay(tenant, 600, now=utc_now())


@pytest.fixture
def token(payment):
    approval = PaymentConfirmation.objects.get()
    address = links.mint(POLICY, approval, approver_email=BOSS, now=utc_now())
    return address.rstrip("/").rpartition("/")[2]


def approve(token, now=None):
    answers.approve(token=token, typed_amount="$6.00", now=now or utc_now())
    return "approved"


def decline(token):
    answers.decline(token=token, reason="no", now=utc_now())
    return "declined"


def cancel(payment):
    orders.cancel(tenant_id=payment.tenant_id, payment_id=payment.pk, actor=SYSTEM, now=utc_now())
    return "canceled"


@rounds(3, quick=0)
def test_50_approvals_and_50_declines_have_one_winner(tenant, payment, token, round_):
    outcomes = together(lambda worker: (approve if worker % 2 else decline)(token), workers=100)

    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, str)]
    losers = Counter(type(outcome) for outcome in outcomes if not isinstance(outcome, str))
    assert losers == {ApprovalClosed: 99}
    approval = PaymentConfirmation.objects.get()
    assert (approval.decision, approval.decided_by) == (winner, BOSS)
    assert AuditEvent.objects.filter(action__startswith="confirmation.").count() == 1
    assert OutgoingEmail.objects.filter(template="confirmation_decided").count() == 1
    run_due(now=utc_now())
    if winner == "approved":
        assert (status_of(payment), funds_of(tenant)) == ("completed", (400, 0))
        assert SandboxInstruction.objects.count() == 1
    else:
        assert (status_of(payment), funds_of(tenant)) == ("failed", (1_000, 0))
        assert PaymentEvent.objects.filter(payment=payment).count() == 2


@rounds(10)
def test_approval_races_with_cancel_and_submission(tenant, payment, token, round_):
    acts = (
        lambda: approve(token),
        lambda: cancel(payment),
        lambda: [submission.submit_due(PAYMENTS, now=utc_now()) for _ in range(3)],
    )

    approved, canceled, _sent = together(lambda worker: acts[worker](), workers=3)

    end = status_of(payment)
    if canceled == "canceled":
        assert approved == "approved" or isinstance(approved, ApprovalClosed)
        assert (end, funds_of(tenant)) == ("canceled", (1_000, 0))
        assert not SandboxInstruction.objects.exists()
        assert postings_of(payment) == [("lock", 600), ("unlock", 600)]
    else:
        assert (approved, type(canceled)) == ("approved", NotCancelable)
        assert (end, funds_of(tenant)) == ("processing", (400, 600))


@rounds(5)
def test_approval_races_with_the_end_and_one_wins(tenant, payment, token, round_):
    end = PaymentConfirmation.objects.get().expires_at

    def act(worker):
        return approvals.sweep(now=end) if worker % 2 else approve(token)

    outcomes = together(act, workers=12)

    approval = PaymentConfirmation.objects.get()
    approved = outcomes.count("approved")
    assert approval.decision == ("approved" if approved else "expired")
    assert approved <= 1
    assert funds_of(tenant) == ((400, 600) if approved else (1_000, 0))
    assert status_of(payment) == ("created" if approved else "failed")


@rounds(10)
def test_approval_races_with_the_money_and_the_payment_goes_once(tenant, round_):
    payment = pay(tenant, 2_000, wait=True, now=utc_now())
    approval = PaymentConfirmation.objects.get(payment=payment)
    address = links.mint(POLICY, approval, approver_email=BOSS, now=utc_now())
    token = address.rstrip("/").rpartition("/")[2]
    fund(tenant, 1_000)
    acts = (
        lambda: answers.approve(token=token, typed_amount="20", now=utc_now()),
        lambda: waiting.run(tenant_id=tenant.pk, now=utc_now()),
    )

    results = together(lambda worker: acts[worker](), workers=2)

    assert results == [None, 1]
    assert Payment.objects.get().next_attempt_at is not None
    run_due(now=utc_now())
    assert (status_of(payment), funds_of(tenant)) == ("completed", (0, 0))
    assert SandboxInstruction.objects.count() == 1


def test_a_removal_waits_for_the_answer_that_came_first(tenant, payment, token):
    ann = Membership.objects.get(tenant=tenant, role=Role.APPROVER)

    def remove():
        members.remove(tenant_id=tenant.pk, membership_id=ann.pk, actor=SYSTEM, now=utc_now())
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            decline_as(ann, payment)
            removed = pool.submit(remove)
            wait_for_a_lock()
        removed.result()

    assert PaymentConfirmation.objects.get().decision == "declined"
    assert not Membership.objects.filter(pk=ann.pk).exists()


@rounds(10)
def test_who_is_removed_decides_nothing_afterwards(tenant, payment, round_):
    ann = Membership.objects.get(tenant=tenant, role=Role.APPROVER)
    acts = (
        lambda: decline_as(ann, payment),
        lambda: members.remove(
            tenant_id=tenant.pk, membership_id=ann.pk, actor=SYSTEM, now=utc_now()
        ),
    )

    answer, _removed = together(lambda worker: acts[worker](), workers=2)

    lines = AuditEvent.objects.filter(action__in=("confirmation.declined", "member.removed"))
    order = list(lines.order_by("pk").values_list("action", flat=True))
    if answer is None:
        assert sorted(order) == ["confirmation.declined", "member.removed"]
        assert PaymentConfirmation.objects.get().decision == "declined"
    else:
        assert isinstance(answer, NotAnApprover)
        assert order == ["member.removed"]
        assert PaymentConfirmation.objects.get().decision == "open"


def decline_as(membership, payment):
    answers.decline_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=PaymentConfirmation.objects.get(payment=payment).pk,
        by=Approver(email=membership.user.email, actor=user(membership.user_id)),
        reason="no",
        now=utc_now(),
    )
