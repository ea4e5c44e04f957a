"""A product with a past of every kind, and seals over all of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection

from approvals.models import ApprovalStatus
from balance import proposals
from balance import services as ledger
from common.clock import utc_now
from desk.models import Assignment, ItemKind, ItemNote
from funding.models import (
    AutoFundingDecision,
    Confirmation,
    FundingEvent,
    FundingSourceVersion,
    FundingTransaction,
)
from funding.services import debit_authorizations, deposits
from payments.models import Payment, PaymentAttempt, PaymentConfirmation, RecipientVersion
from seals import rounds
from seals.verification import Proof
from tenants.access import AccessKind
from tenants.actors import SYSTEM, Actor
from tenants.models import ActorType, Tenant, User
from tenants.services import access, audit, staff
from tests.builders import ApiClient, make_key, make_source
from tests.funding.agreeing import agree, revoke
from tests.seals import bank
from tests.solvency import builders as solvency
from transfers.inbox.models import HandSettlement, InboundEvent, ReturnDishonor

# All that is left of a tenant without transfers, besides its own row.
ROWS_OF_TENANTS = (
    "balance_transaction",
    "balance_operator_line",
    "balance",
    "tenants_auditevent",
    "balance_adjustment",
)
RECIPIENT = {
    "accountNumber": "9876543",
    "routingNumber": "021000021",
    "accountHolderName": "R",
    "accountHolderType": "business",
    "accountType": "checking",
}


def query(statement: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def seal(*, ahead: timedelta = timedelta(hours=1)) -> int:
    """Seal everything that is there; a bound in the future, so that nothing is too young."""
    return rounds.seal_due(now=utc_now() + ahead)


def found(*, numbers: range | None = None, now: datetime | None = None, **scope: Any) -> list[str]:
    """What a proof of all rounds says, each finding as a line."""
    last = query("SELECT coalesce(max(number), 0) FROM seals_sealround")[0][0]
    proof = Proof(numbers=numbers or range(1, last + 1), now=now or utc_now(), **scope)
    return [str(finding) for finding in proof.findings()]


@pytest.fixture
def past(acme: Tenant, rival: Tenant) -> Tenant:
    """Rows of acme of every kind, some of rival, and some of no tenant."""
    now = utc_now()
    api = ApiClient(make_key(acme))
    source = make_source(acme)
    for _ in range(2):
        api.post_json("/api/v1/balance/topup", {"amount": 5_000, "fundingSourceId": source.pk})
        api.post_json("/api/v1/sandbox/process-due")
    ledger.adjust(
        tenant_id=acme.pk, type="credit", amount=900, reason="Gift", actor=SYSTEM, now=now
    )
    payment = {"amount": 100, "method": "ach_credit", "recipient": RECIPIENT}
    assert api.post_json("/api/v1/payments", payment).status_code == 201
    make_source(acme, account_number="50001", now=now)  # it is proven by deposits
    assert deposits.store_due(now=now) == 1
    _decisions(acme, now)
    _corrections(acme, api)
    _staff(acme, now)
    _items(now)
    bank.keep(acme)
    solvency.take(rail="nowhere", now=now)
    ledger.adjust(tenant_id=rival.pk, type="credit", amount=5, reason="Gift", actor=SYSTEM, now=now)
    audit.record(tenant_id=None, actor=SYSTEM, action="nobody.looked", now=now)
    assert InboundEvent.objects.exists()
    return acme


def _corrections(acme: Tenant, api: ApiClient) -> None:
    """Of a bank account and of a recipient."""
    source = make_source(acme, account_number="60001")
    api.post_json("/api/v1/balance/topup", {"amount": 5_000, "fundingSourceId": source.pk})
    recipient = {**RECIPIENT, "accountNumber": "60003"}
    payment = {"amount": 100, "method": "ach_credit", "recipient": recipient}
    assert api.post_json("/api/v1/payments", payment).status_code == 201
    elsewhere = {**RECIPIENT, "accountNumber": "51001"}  # it goes another way
    payment = {"amount": 100, "method": "auto", "recipient": elsewhere}
    assert api.post_json("/api/v1/payments", payment).status_code == 201
    api.post_json("/api/v1/sandbox/process-due")
    assert PaymentAttempt.objects.count() == 1
    assert FundingSourceVersion.objects.count() == RecipientVersion.objects.count() == 2


def _staff(acme: Tenant, now: datetime) -> None:
    """Somebody worked for us, and two people decided on access to acme."""
    Group.objects.create(name="Viewer")
    one, other = (
        Actor(
            type=ActorType.STAFF,
            id=staff.grant(email=email, roles=["Viewer"], actor=SYSTEM, now=now).pk,
        )
        for email in ("one@ballast.example", "other@ballast.example")
    )
    proposal = access.propose(
        kind=AccessKind.MEMBER,
        email="lee@acme.example",
        tenant=acme,
        role="owner",
        reason="They asked",
        actor=one,
        now=now,
    )
    access.reject(proposal_id=proposal.pk, note="Never called", actor=other, now=now)
    staff.end(user_id=one.id, actor=SYSTEM, now=now)


def _items(now: datetime) -> None:
    """Somebody works on a funding and noted something on it."""
    funding = FundingTransaction.objects.earliest("pk")
    other = User.objects.get(email="other@ballast.example")
    about: dict[str, Any] = {
        "kind": ItemKind.FUNDING,
        "subject_id": funding.pk,
        "created_by": other,
        "created_at": now,
    }
    ItemNote.objects.create(text="Called them", **about)
    Assignment.objects.create(number=1, assignee=other, **about)


def _decisions(acme: Tenant, now: datetime) -> None:
    funding, payment = FundingTransaction.objects.first(), Payment.objects.get()
    assert funding is not None
    decided = {"tenant": acme, "reason": "large", "expires_at": now, "created_at": now}
    decided |= {
        "decision": ApprovalStatus.DECLINED,
        "decided_at": now,
        "decided_by": "a@acme.example",
    }
    agreed = agree(funding.source, now=now)
    debit_authorizations.attach(agreed, funding=funding, now=now)
    revoke(agreed, now=now)
    Confirmation.objects.create(funding=funding, source=funding.source, amount=1, **decided)
    PaymentConfirmation.objects.create(payment=payment, amount=1, **decided)
    figures = {"available": 1, "in_flight": 1, "threshold": 1, "amount": 1}
    AutoFundingDecision.objects.create(
        tenant=acme, outcome="declined", reason="r", created_at=now, **figures
    )
    people = [User.objects.create_user(email=f"{name}@staff.example") for name in ("a", "b")]
    one, other = (Actor(type=ActorType.STAFF, id=person.pk) for person in people)
    proposal = proposals.propose(
        tenant_id=acme.pk, type="credit", amount=7, reason="Gift", actor=one, now=now
    )
    proposals.reject(proposal_id=proposal.pk, note="no", actor=other, now=now)
    HandSettlement.objects.create(
        tenant=acme,
        subject_id=funding.pk,
        kind="settled",
        amount=1,
        bank_reference="B1",
        reason="late",
        proposed_by=people[0],
        proposed_at=now,
        decision="rejected",
        decided_by=people[1],
        decided_at=now,
    )
    ReturnDishonor.objects.create(
        tenant=acme,
        subject_id=funding.pk,
        direction="in",
        network="sandbox",
        amount=1,
        dishonored=InboundEvent.objects.first(),
        counted_at=now,
        created_at=now,
        changed_at=now,
    )
    assert FundingEvent.objects.exists()
