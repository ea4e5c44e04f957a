"""Payers approve requests at the moment at which these expire: each request ends once, paid or
expired, and money that comes too late is a person's."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from django.conf import settings

from balance import invariants
from balance.models import Balance
from common.clock import utc_now
from devstack.instant.client import ControlError
from funding.models import FundingMethod, FundingTransaction
from funding.transfer import FUNDING
from networks.instant.models import Conversation, InstantEvent, InstantLine
from networks.instant.network import InstantNetwork
from networks.instant.receiving import listening
from tests.builders import make_source, make_tenant
from tests.funding.builders import top_up
from tests.networks.instant.builders import RAIL, make_rail, request
from tests.networks.instant.life import the
from tests.networks.instant.operator import Operator
from tests.networks.instant.standin import Life, a_life
from tests.races.together import rounds, together, turns
from transfers import submission
from transfers.inbox import messages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

REQUESTS = 50
SURE = 5  # of them are surely approved before, and so many surely after
APART = timedelta(milliseconds=10)
OPEN_FOR = timedelta(hours=settings.REQUEST_FOR_PAYMENT_HOURS)
SENT_WITHIN = timedelta(seconds=8)
PAYER = "7770001"  # waits for a person
SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


@pytest.fixture(params=["rtp", "fednow"])
def life(request, db):
    with a_life(request.param) as life:
        yield life


def sent(tenant):
    """The ids of top-ups whose requests are at the payer's bank, and when these expire."""
    source, ago = make_source(tenant, account_number=PAYER), utc_now() - OPEN_FOR
    rows = [
        top_up(tenant, amount=1_000 + n, source=source, method=FundingMethod.RTP, now=ago)
        for n in range(REQUESTS)
    ]
    until = (utc_now() + SENT_WITHIN).replace(microsecond=0)
    submission.submit_due(FUNDING, now=until - OPEN_FOR)
    return [row.pk for row in rows], until


def wait_for(moment: datetime) -> None:
    Event().wait(max((moment - utc_now()).total_seconds(), 0))


def approve(life: Life, funding_ids: list[str], until: datetime) -> list[str]:
    """Approve each at its moment around `until`; the ids that the payer's bank took."""
    return [pk for number, pk in enumerate(funding_ids) if _approved(life, pk, number, until)]


def _approved(life: Life, funding_id: str, number: int, until: datetime) -> bool:
    if number >= SURE:
        wait_for(until + APART * (number - REQUESTS // 2))
    if number >= REQUESTS - SURE:
        wait_for(until)
    try:
        life.operator.ask("answer_request", end_to_end_id=funding_id)
    except ControlError as refusal:
        if "expired" not in str(refusal):
            raise
        return False
    return True


def work(funding_ids: list[str]) -> None:
    """What workers do, until every top-up has ended."""
    open_ones = FundingTransaction.objects.filter(pk__in=funding_ids)
    for _ in turns():
        if not open_ones.exclude(status__in=("completed", "failed")).exists():
            return
        listening.listen(RAIL, seconds=15, now=utc_now())
        messages.process(FUNDING, now=utc_now())


@rounds(2)
def test_answers_race_expiries(life, connect, round_):
    connect(InstantNetwork(RAIL))
    tenant, before = make_tenant(), life.we.position
    ids, until = sent(tenant)

    approved, *_ = together(
        lambda worker: work(ids) if worker else approve(life, ids, until), workers=3
    )

    rows = FundingTransaction.objects.in_bulk(ids)
    paid = [pk for pk in ids if rows[pk].status == "completed"]
    assert paid == approved
    assert SURE <= len(paid) <= REQUESTS - SURE
    lapsed = [rows[pk] for pk in ids if pk not in paid]
    assert {(row.status, row.failure_code) for row in lapsed} == {("failed", "EXPIRED")}
    each_has_ended_once(ids, paid)
    balance = Balance.objects.get(tenant=tenant)
    gained = sum(rows[pk].amount for pk in paid)
    assert (balance.available, balance.pending, balance.locked) == (gained, 0, 0)
    assert life.we.position - before == gained
    assert invariants.check(now=utc_now(), full=True).findings == []


def each_has_ended_once(instruction_ids, paid):
    told = Counter(
        InstantEvent.objects.filter(voided_at=None)
        .exclude(kind__in=("accepted", "received"))
        .values_list("instruction_id", "kind")
    )
    ends = {pk: ("settled", "final") if pk in paid else ("rejected",) for pk in instruction_ids}
    assert told == Counter((pk, kind) for pk in instruction_ids for kind in ends[pk])


@pytest.fixture(params=["rtp", "fednow"])
def operator(request, db, tmp_path: Path) -> Operator:
    make_rail(tmp_path, profile=request.param)
    return Operator(tmp_path, request.param)


def wait_until_expired(instruction_id: str) -> None:
    for _ in turns():
        if the(instruction_id).status == "expired":
            return
        wait_for(utc_now() + APART)


@rounds(2)
def test_money_that_comes_while_workers_expire_requests(operator, round_):
    """The network brings late what was sent in time, and two workers listen, because one of them
    slept past its lease."""
    bank, now = InstantNetwork(RAIL), utc_now()
    until = now + timedelta(seconds=1)
    told = [request(now, expires_at=until + APART * n) for n in range(REQUESTS)]
    bank.submit_many(told, now=now)
    asked = {each.end_to_end_id: each for each in operator.taken()}
    ids = [each.id for each in told]

    def bring() -> None:
        for number, pk in enumerate(ids):
            if number >= SURE:
                wait_for(until + APART * (number - 10))
            if number >= REQUESTS - SURE:
                wait_until_expired(pk)
            money = operator.payment_of(asked[pk], now=now)
            operator.say(money, operator.report(money, SETTLED[operator.name], now=now))

    def hear() -> None:
        final = Conversation.objects.filter(kind="credit", status="final")
        for _ in turns():
            if final.count() == REQUESTS:
                return
            InstantLine.objects.update(leased_until=None, next_attempt_at=utc_now())
            listening.listen(RAIL, seconds=15, now=utc_now())

    failures = together(lambda worker: hear() if worker else bring(), workers=3)

    assert failures == [None] * 3
    ends = dict(Conversation.objects.filter(kind="request").values_list("instruction_id", "status"))
    assert set(ends.values()) <= {"final", "expired"}
    paid = [pk for pk in ids if ends[pk] == "final"]
    assert SURE <= len(paid) <= REQUESTS - SURE
    each_has_ended_once(ids, paid)
    credits = Conversation.objects.filter(kind="credit")
    assert set(credits.values_list("status", flat=True)) == {"final"}
    for_people = credits.filter(review_code="after_expiry", tenant_id="")
    late = for_people.values_list("end_to_end_id", flat=True)
    assert sorted(late) == sorted(set(ids) - set(paid))
    assert credits.count() == REQUESTS
    assert InstantEvent.objects.filter(kind="received").count() == REQUESTS - len(paid)
