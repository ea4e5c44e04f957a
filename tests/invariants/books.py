"""Books with one of everything, for damage of every kind: two tenants, money in and money out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal
from unittest import mock

from django.contrib.auth.models import Group
from django.db import connection

from approvals import answers, links
from balance import closed_months, proposals, statements
from balance import services as ledger
from common import days
from common.clock import utc_now
from funding.models import Confirmation, DepositEntry, FundingSource
from funding.services import auto_funding, deposits
from funding.services.approval_policy import POLICY
from funding.transfer import FUNDING
from payments.services import approval_settings
from tenants import actors
from tenants.access import AccessKind
from tenants.actors import SYSTEM
from tenants.models import Mode
from tenants.services import access, accounts, switches
from tenants.switches import SwitchKind
from tests.builders import (
    ApiClient,
    make_auto_funding,
    make_endpoint,
    make_key,
    make_member,
    make_source,
    make_staff,
    make_tenant,
)
from tests.funding import agreeing
from tests.funding import builders as funding
from tests.invariants import bank_books, instant_books
from tests.networks.ach.builders import RAIL
from tests.payments import asking
from tests.payments import builders as payments
from tests.solvency import builders as solvency
from transfers import submission

Names = dict[str, Any]


def rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall()) if cursor.description else []


def one(statement: str, *values: Any) -> Any:
    ((value,),) = rows(statement, *values)
    return value


def keep() -> Names:
    """Make the books; returns the ids that the planted damage names."""
    tenant, rival = make_tenant(), make_tenant(name="Rival")
    _closed_month(rival)
    endpoint = make_endpoint(tenant)
    names: Names = {"t": tenant.pk, "t2": rival.pk, "endpoint": endpoint.pk}
    names |= _money_in(tenant, rival)
    names |= _money_out(tenant)
    names |= _corrections(tenant)
    names |= _hired()
    names |= _approvals(tenant)
    names |= bank_books.keep(tenant)
    names |= instant_books.keep(tenant)
    names |= _live()
    _proof()
    names |= _deposits(tenant)
    names |= _unsent(tenant, names)
    names |= _stops(rival)
    return names | _read_back(names)


def _proof() -> None:
    """A proof of funds of two live tenants: one has money, the other one never had any."""
    tenant = make_tenant(name="Proven", mode=Mode.LIVE)
    solvency.adjust(tenant, 1_000)
    solvency.take(rail="nowhere", now=utc_now())


def _closed_month(rival: Any) -> None:
    """A month that is over, with its totals stored."""
    then = utc_now() - timedelta(days=70)
    lines: list[tuple[Literal["credit", "debit"], int]]
    lines = [("credit", 900), ("credit", 50), ("debit", 40)]
    for type, amount in lines:
        ledger.adjust(
            tenant_id=rival.pk, type=type, amount=amount, reason="Then", actor=SYSTEM, now=then
        )
    ledger.adjust(
        tenant_id=rival.pk, type="credit", amount=1, reason="Now", actor=SYSTEM, now=utc_now()
    )
    first = days.day_of(then).replace(day=1)
    with mock.patch.object(closed_months, "LINES_MIN", 1):
        statements.statement(tenant_id=rival.pk, first=first, now=utc_now())


def _money_in(tenant: Any, rival: Any) -> Names:
    """Completed twice, returned late, returned in transit, corrected, on its way."""
    source = make_source(tenant)
    numbers = {
        "late": "20001",
        "transit": "10001",
        "stays": "30001",
        "src2": "5556667",
        "corrected": "60001",
    }
    others = {name: make_source(tenant, account_number=each) for name, each in numbers.items()}
    now = utc_now()
    made = {
        "f1": funding.top_up(tenant, amount=10_000, source=source, now=now),
        "f2": funding.top_up(tenant, amount=10_000, source=source, now=now),
        "fr": funding.top_up(tenant, amount=3_000, source=others["late"], now=now),
        "ft": funding.top_up(tenant, amount=2_000, source=others["transit"], now=now),
        "fc": funding.top_up(tenant, amount=600, source=others["corrected"], now=now),
        "f_rival": funding.top_up(rival, amount=4_000, now=now),
    }
    funding.run_due(now=now)
    agreed = agreeing.make_individual(tenant, account_number="4443332")
    given = agreeing.agree(agreed)
    made["fp"] = funding.top_up(tenant, amount=777, source=others["stays"], now=now)
    funding.run_due(now=now)
    sources = {
        "src": source.pk,
        "src2": others["src2"].pk,
        "srcc": others["corrected"].pk,
        "dau": given.pk,
    }
    return sources | {name: row.pk for name, row in made.items()}


def _money_out(tenant: Any) -> Names:
    """Completed twice, returned after completion, on its way."""
    now = utc_now()
    made = {
        "p1": payments.pay(tenant, 4_000, now=now),
        "p2": payments.pay(tenant, 1_000, to="9876543", now=now),
        "pr": payments.pay(tenant, 500, to="20002", now=now),
        "pp": payments.pay(tenant, 1_500, to="30001", now=now),
        "pc": payments.pay(tenant, 700, to="60003", now=now),
    }
    payments.run_due(now=now)
    return {name: row.pk for name, row in made.items()} | {
        "r2": made["p2"].recipient_id,
        "rc": made["pc"].recipient_id,
    }


def _corrections(tenant: Any) -> Names:
    """One by one person, one by two."""
    ann, ben = (make_staff(f"{name}@ballast.example") for name in ("ann", "ben"))
    now = utc_now()
    single = ledger.adjust(
        tenant_id=tenant.pk, type="credit", amount=55, reason="Fee", actor=SYSTEM, now=now
    )
    proposal = proposals.propose(
        tenant_id=tenant.pk,
        type="credit",
        amount=70,
        reason="Fee charged twice",
        actor=actors.staff(ann.pk),
        now=now,
    )
    proposals.approve(
        proposal_id=proposal.pk, note="Looked", actor=actors.staff(ben.pk), now=utc_now()
    )
    adjustment = "SELECT source_id FROM balance_transaction WHERE id = %s"
    return {"adj": one(adjustment, single.id), "adp": proposal.pk}


def _hired() -> Names:
    """Somebody works for us, by the word of two people in an emergency."""
    ann, ben = (actors.staff(make_staff(f"{name}@ballast.example").pk) for name in ("ann", "ben"))
    Group.objects.create(name="Hired")
    proposal = access.propose(
        kind=AccessKind.POWER,
        email="hired@ballast.example",
        groups=["Hired"],
        reason="New here",
        is_emergency=True,
        actor=ann,
        now=utc_now(),
    )
    access.approve(proposal_id=proposal.pk, note="Called", actor=ben, now=utc_now())
    power = "SELECT id FROM tenants_staffpower WHERE granted_by_id = %s"
    return {"acp": proposal.pk, "pow": one(power, ben.id)}


def _approvals(tenant: Any) -> Names:
    """Approved by link: an automatic funding, and a payment. A payment that still waits."""
    make_auto_funding(
        tenant,
        low_balance_threshold=900_000,
        funding_amount=50_000,
        confirmation_threshold=0,
        confirmation_emails=["cfo@acme.example"],
    )
    auto_funding.evaluate(tenant_id=tenant.pk, now=utc_now())
    approval = Confirmation.objects.get(tenant=tenant)
    token = links.mint(POLICY, approval, approver_email="cfo@acme.example", now=utc_now())
    answers.approve(token=token.rstrip("/").rpartition("/")[2], typed_amount="500", now=utc_now())
    approval_settings.set_threshold(
        tenant_id=tenant.pk, threshold=1_200, actor=SYSTEM, now=utc_now()
    )
    asked = payments.pay(tenant, 1_300, now=utc_now())
    answered = payments.pay(tenant, 1_400, now=utc_now())
    make_member(tenant, email=asking.OWNER)
    asking.approve(answered, typed="14", now=utc_now())
    now = utc_now()
    funding.run_due(now=now)
    payments.run_due(now=now)
    return {"fc": approval.funding_id, "pq": asked.pk, "pa": answered.pk}


def _unsent(tenant: Any, names: Names) -> Names:
    """What no network has seen yet, asked for through the API with a key."""
    made = ApiClient(make_key(tenant)).post_json(
        "/api/v1/balance/topup",
        {"amount": 111, "fundingSourceId": names["src"]},
        **{"Idempotency-Key": "books"},
    )
    assert made.status_code == 201, made.content
    unsent = payments.pay(tenant, 321, to="4445556", now=utc_now())  # nobody is asked about it
    waiting = payments.pay(tenant, 90_000_000, wait=True, now=utc_now())
    return {"fresv": made.json()["data"]["id"], "pu": unsent.pk, "pw": waiting.pk}


def _stops(rival: Any) -> Names:
    """Somebody else is stopped, by a switch of each direction, and a third one is suspended."""
    suspended = make_tenant(name="Suspended")
    stop: dict[str, Any] = {"reason": "Look", "actor": SYSTEM, "now": utc_now()}
    in_, out = (
        switches.engage(kind=kind, tenant_id=rival.pk, **stop).pk
        for kind in (SwitchKind.FUNDING, SwitchKind.PAYMENTS)
    )
    accounts.suspend(tenant_id=suspended.pk, actor=SYSTEM, now=utc_now())
    return {"t3": suspended.pk, "switch_in": in_, "switch_out": out}


def _live() -> Names:
    """A live tenant's debit of an individual, which the bank has taken over; and another word of
    the same holder about another account."""
    tenant = make_tenant(name="Live", mode=Mode.LIVE)
    now = utc_now()
    one, other = (
        make_source(tenant, holder_type="individual", account_number=number, now=now)
        for number in ("7770001", "7770002")
    )
    FundingSource.objects.filter(tenant=tenant).update(status="active")
    given, elsewhere = (agreeing.agree(each, now=now) for each in (one, other))
    funded = funding.top_up(tenant, amount=4_200, source=one, now=now)
    submission.submit_due(FUNDING, now=utc_now())
    funded.refresh_from_db()
    assert (funded.status, funded.network) == ("pending", RAIL)
    return {"fl": funded.pk, "dal": given.pk, "dao": elsewhere.pk}


def _deposits(tenant: Any) -> Names:
    """Of an account that they proved, and of one that they are still to be sent to."""
    done = make_source(tenant, account_number="50001")
    deposits.process_due(now=utc_now())
    unsent = make_source(tenant, account_number="50001", routing_number="011000015")
    assert deposits.store_due(now=utc_now()) == 1
    parts = DepositEntry.objects.order_by("part")
    assert set(parts.filter(source=done).values_list("status", flat=True)) == {"completed"}
    assert set(parts.filter(source=unsent).values_list("status", flat=True)) == {"created"}
    return {
        "vd": parts.filter(source=done).latest("part").pk,
        "vu": parts.filter(source=unsent).earliest("part").pk,
    }


def _read_back(names: Names) -> Names:
    credit = "SELECT sequence FROM balance_transaction WHERE source_id = %s AND type = 'credit'"
    first_event = (
        "SELECT id FROM webhooks_webhookevent WHERE payment_id = %s ORDER BY sequence LIMIT 1"
    )
    last = "SELECT max(sequence) FROM balance_transaction WHERE tenant_id = %s"
    return {
        "s1": one(credit, names["f1"]),
        "s2": one(credit, names["f2"]),
        "last": one(last, names["t"]),
        "e": one(first_event, names["f1"]),
        "ep": one(first_event, names["p1"]),
        "r1": one("SELECT recipient_id FROM payments_payment WHERE id = %s", names["p1"]),
    }
