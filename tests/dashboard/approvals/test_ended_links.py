"""Links that answer nothing any more: of payments, and of former approvers."""

from __future__ import annotations

import pytest

from approvals import links
from approvals.models import ApprovalStatus
from common.clock import utc_now
from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import auto_funding
from funding.services.approval_policy import POLICY as FUNDING
from networks.sandbox.bank import SandboxBank
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings
from tenants.actors import SYSTEM, staff
from tenants.models import AuditEvent, Membership, Mode, Role
from tenants.services import members
from tests.builders import make_auto_funding, make_member, make_source, make_tenant
from tests.payments.asking import OWNER, order, token_of
from tests.payments.builders import fund

APPROVE = {"decision": "approve", "typed_amount": "50.00"}
DECLINE = {"decision": "decline", "reason": "Not this week"}


def asked(tenant):
    """A payment of $50.00 that waits for the owner, and the link of an older release's e-mail."""
    make_member(tenant, email=OWNER)
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=utc_now())
    fund(tenant, 10_000)
    payment = order(tenant, now=utc_now())
    return payment, f"/confirm/{token_of(payment)}/"


class TestPayment:
    """Found: whoever read a mailbox could let a payment out."""

    @pytest.fixture
    def link(self, db, connect):
        connect(SandboxBank(), modes=("live",))
        return asked(make_tenant(mode=Mode.LIVE))[1]

    @pytest.mark.parametrize("form", [None, APPROVE, DECLINE])
    def test_is_answered_by_no_link(self, client, link, form):
        answer = client.get(link) if form is None else client.post(link, form)

        assert answer.status_code == 410
        content = answer.content.decode()
        assert "Payments are approved in the dashboard" in content
        assert 'href="/dashboard/approvals"' in content
        for secret in ("50.00", "Supplier", OWNER):
            assert secret not in content
        assert PaymentConfirmation.objects.get().decision == ApprovalStatus.OPEN
        assert Payment.objects.get().confirmed_at is None
        assert not AuditEvent.objects.filter(action__startswith="confirmation.").exists()

    def test_keeps_its_headers(self, client, link):
        answer = client.get(link)

        assert answer["Cache-Control"] == "no-store"
        assert answer["Referrer-Policy"] == "no-referrer"

    def test_of_the_sandbox_is_answered_by_what_its_api_hands_out(self, client, acme):
        payment, link = asked(acme)

        assert client.post(link, APPROVE).status_code == 302
        payment.refresh_from_db()
        assert payment.confirmed_at is not None


class TestFormerApprover:
    """Found: who was an approver could still look, and decline."""

    @pytest.fixture
    def ann(self, acme):
        make_member(acme, email="ben@acme.example", role=Role.OWNER)
        return make_member(acme, email="ann@acme.example", role=Role.APPROVER)

    @pytest.fixture
    def link(self, acme, ann):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=10_000)
        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
        url = links.mint(
            FUNDING, Confirmation.objects.get(), approver_email=ann.email, now=utc_now()
        )
        return "/confirm/" + url.rstrip("/").rpartition("/")[2] + "/"

    @pytest.fixture(params=["removed", "only looks", "not named"])
    def former(self, request, acme, ann, link):
        membership = Membership.objects.get(user=ann)
        change = {"tenant_id": acme.pk, "membership_id": membership.pk}
        if request.param == "removed":
            members.remove(**change, actor=staff("usr_1"), now=utc_now())
        elif request.param == "only looks":
            members.change_role(**change, role=Role.VIEWER, actor=staff("usr_1"), now=utc_now())
        else:
            AutoFundingConfig.objects.update(confirmation_emails=["ben@acme.example"])
        return link

    @pytest.mark.parametrize("form", [None, {**APPROVE, "typed_amount": "500.00"}, DECLINE])
    def test_sees_nothing_and_decides_nothing(self, client, former, form):
        answer = client.get(former) if form is None else client.post(former, form)

        assert answer.status_code == 410
        content = answer.content.decode()
        assert "ann@acme.example is no longer asked for approvals here." in content
        for secret in ("500.00", "Acme", "6789"):
            assert secret not in content
        assert Confirmation.objects.get().decision == ApprovalStatus.OPEN
        assert FundingTransaction.objects.get().status == "awaiting_confirmation"

    def test_sees_nothing_of_what_others_decided_either(self, client, acme, ann, link):
        assert client.post(link, DECLINE).status_code == 302
        Membership.objects.filter(user=ann).delete()

        answer = client.get(link)

        assert answer.status_code == 410
        assert "Not this week" not in answer.content.decode()

    def test_who_only_looks_now_does_not_decide_signed_in(self, acme, ann, link, sign_in):
        Membership.objects.filter(user=ann).update(role=Role.VIEWER)
        path, browser = f"/dashboard/approvals/{Confirmation.objects.get().pk}", sign_in(ann)

        shown = browser.get(path).content.decode()
        answer = browser.post(path, {**DECLINE, "acting_for": acme.pk})

        assert "Your decision" not in shown
        assert answer.status_code == 422
        assert "You are no longer an approver here." in answer.content.decode()
        assert Confirmation.objects.get().decision == ApprovalStatus.OPEN
