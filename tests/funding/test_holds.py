"""Funding that staff keep from its network: nobody sends it, nothing ends it, its status stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from approvals import answers
from approvals.policies import Approver
from balance import invariants
from balance import selectors as ledger
from common import queues
from common.money import format_cents
from funding.models import FundingTransaction
from funding.services import approval_sweeps, auto_funding, topups
from funding.transfer import FUNDING
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Role
from tests.builders import NOW, mails_of, make_auto_funding, make_member, make_source
from tests.funding.builders import run_due, top_up
from transfers import holds, submission
from transfers.holds import NotHeld, NotHoldable

MONEY = {"amount": 25_000, "direction": "in", "bankName": "JPMorgan Chase", "last4": "6789"}


def hold(funding):
    holds.hold(FUNDING, funding.pk, reason="odd amount", actor=SYSTEM, now=NOW)


def release(funding, now=NOW):
    holds.release(FUNDING, funding.pk, reason="all right", actor=SYSTEM, now=now)


def stop(funding):
    holds.stop(FUNDING, funding.pk, reason="stolen account", actor=SYSTEM, now=NOW)


def status_of(funding):
    return FundingTransaction.objects.get(pk=funding.pk).status


@pytest.fixture
def funding(acme):
    make_member(acme, email="dana@acme.example", role=Role.OWNER)
    return top_up(acme)


@pytest.fixture
def approval(acme):
    """An automatic funding that waits for its approvers."""
    make_member(acme, email="dana@acme.example", role=Role.OWNER)
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    return FundingTransaction.objects.get().confirmation


def test_is_not_sent_keeps_its_status_and_goes_on_once(acme, acme_api, funding):
    address = f"/api/v1/funding/transactions/{funding.pk}"
    before = acme_api.get(address).json()["data"]
    hold(funding)
    run_due()
    shown = acme_api.get(address).json()["data"]
    unsure = {"expectedAvailabilityDate": None, "updatedAt": shown["updatedAt"]}
    assert shown == {**before, **unsure}
    assert ledger.summary(acme.pk).pending == funding.amount

    release(funding)
    run_due()

    assert status_of(funding) == "completed"
    assert mails_of(acme, "review") == ["dana@acme.example"] * 2


def test_both_can_be_repeated_and_are_audited_once(funding):
    for _ in range(2):
        hold(funding)
    for _ in range(2):
        release(funding)

    audited = AuditEvent.objects.filter(subject_id=funding.pk).order_by("created_at", "pk")
    assert [(event.action, event.staff_note, event.details) for event in audited] == [
        ("funding.held", "odd amount", MONEY),
        ("funding.released", "all right", MONEY),
    ]


def test_what_a_network_may_have_seen_cannot_be_held(funding):
    submission.submit_due(FUNDING, now=NOW)

    with pytest.raises(NotHoldable):
        hold(funding)


def test_stopped_it_fails_and_pending_falls_once(acme, funding):
    hold(funding)

    stop(funding)

    funding.refresh_from_db()
    assert (funding.status, funding.failure_code) == ("failed", "stopped_by_review")
    assert "stolen" not in funding.failure_message + "".join(
        funding.history.values_list("reason", flat=True)
    )
    assert (ledger.summary(acme.pk).pending, funding.held_at) == (0, None)
    with pytest.raises(NotHeld):
        stop(funding)
    assert invariants.check(now=NOW, full=True).findings == []


def test_its_owner_can_still_cancel_it(acme, funding):
    hold(funding)

    topups.cancel(tenant_id=acme.pk, funding_id=funding.pk, actor=SYSTEM, now=NOW)

    assert status_of(funding) == "failed"
    assert not FundingTransaction.objects.filter(held_at__isnull=False).exists()


def test_an_approval_does_not_release_it(acme, approval):
    hold(approval.funding)

    answers.approve_signed_in(
        tenant_id=acme.pk,
        approval_id=approval.pk,
        by=Approver(email="dana@acme.example", actor=SYSTEM),
        typed_amount=format_cents(approval.amount),
        now=NOW,
    )

    assert status_of(approval.funding) == "reserved"
    assert submission.submit_due(FUNDING, now=NOW) == 0
    assert FundingTransaction.objects.get().held_at == NOW


def test_after_days_on_hold_it_says_anew_when_the_money_is_there(funding):
    hold(funding)
    before = funding.expected_availability_date

    release(funding, now=NOW + timedelta(days=14))

    funding.refresh_from_db()
    assert (funding.expected_availability_date - before).days in range(12, 18)


def test_an_approval_about_it_does_not_lapse_meanwhile(approval):
    hold(approval.funding)
    late = approval.expires_at + timedelta(days=1)

    assert approval_sweeps.sweep(now=late) == 0

    release(approval.funding, now=late)
    assert approval_sweeps.sweep(now=late) == 1
    assert status_of(approval.funding) == "failed"


def test_stopped_its_approval_is_withdrawn(approval):
    hold(approval.funding)

    stop(approval.funding)

    approval.refresh_from_db()
    assert (approval.decision, status_of(approval.funding)) == ("superseded", "failed")


def test_its_queue_does_not_grow_old_because_of_it(funding):
    def due():
        name = "funding.fundingtransaction"
        (queue,) = [state for state in queues.states(now=NOW) if state.name == name]
        return queue.due

    assert due() == 1
    hold(funding)
    assert due() == 0
    release(funding)
    assert due() == 1


def test_staff_do_it_on_its_page(funding, admin_client):
    for act in ("hold", "stop"):
        address = reverse(f"admin:funding_fundingtransaction_{act}", args=[funding.pk])
        assert admin_client.get(address).status_code == 200
        admin_client.post(address, {"reason": "Look"})

    assert status_of(funding) == "failed"
