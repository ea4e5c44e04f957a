"""A day of an instant rail closes at zero: the stand-in operator states what the books have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta

import pytest

from balance import invariants
from common.clock import utc_now
from desk.doers import operator
from desk.positions import acts as positions
from desk.rails.instant import acts
from devstack.instant import client
from funding.models import FundingMethod
from networks.instant import giving_back, rails
from networks.instant.iso.profiles import EASTERN
from networks.instant.models import PositionMove, ReturnAsk
from payments.models import PaymentMethod
from reconciliation import accounts, closing, expecting, fetching, reading
from reconciliation.accounts import Opening
from reconciliation.errors import AccountRefused
from reconciliation.matching import running
from reconciliation.models import ClosedDay, ExpectedLine, Match, StatementFormat, StatementLine
from tests.builders import make_source
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.networks.ach import witnessed
from tests.networks.instant.builders import RAIL
from tests.networks.instant.life import wait
from tests.networks.instant.standin import Life, a_life
from tests.payments.builders import fund, pay
from tests.payments.builders import run_due as run_payments
from transfers import positions as transfers
from transfers.positions import Move

pytestmark = pytest.mark.django_db

ANN, BEN = "ann@ballast.example", "ben@ballast.example"


@pytest.fixture(params=["rtp", "fednow"])
def life(request, db, connect) -> Iterator[Life]:
    with a_life(request.param, "--term", "days_before=1") as life:
        connect(life.bank)
        yield life


def go_on(life: Life) -> None:
    """Everybody hears what there is to hear."""
    for _ in range(3):
        life.hear_all()
        run_funding(now=utc_now())
        run_payments(now=utc_now())


def topped_up(life: Life, tenant, source, cents: int):
    row = top_up(tenant, amount=cents, source=source, method=FundingMethod.RTP, now=utc_now())
    go_on(life)
    life.operator.ask("answer_request", end_to_end_id=row.pk)
    go_on(life)
    return row


def paid(life: Life, tenant, cents: int, to: str):
    row = pay(tenant, cents, to=to, method=PaymentMethod.RTP, now=utc_now())
    go_on(life)
    return row


def give_back(life: Life, funding) -> None:
    life.operator.ask("ask_back", end_to_end_id=funding.pk, code="DUPL")
    life.hear_all()
    ask = ReturnAsk.objects.get()
    giving_back.propose(ask.pk, gives_back=True, why="They asked", by=ANN, now=utc_now())
    giving_back.confirm(ask.pk, by=BEN, now=utc_now())
    ask.refresh_from_db()
    assert ask.proposed_at
    assert ask.decided_at
    witnessed.said("return_ask.proposed", ask.pk, ANN, ask.proposed_at, givesBack=True)
    witnessed.said("return_ask.approved", ask.pk, BEN, ask.decided_at, givesBack=True)
    wait(0)
    go_on(life)


def end_of(life: Life, day: date) -> datetime:
    """When the network's day is over."""
    rolls_at = life.we.profile.rolls_at
    last = day if rolls_at != time() else day + timedelta(days=1)
    return datetime.combine(last, rolls_at, EASTERN)


def begin(life: Life) -> date:
    """Statements are taken from the day before on; gives the network's present day."""
    folder = client.connection(life.operator.home)["statements"]
    before = rails.current(RAIL)
    acts.change_alone(
        rail=before.version.rail,
        terms=replace(before.terms, statements=f"{folder}/{life.profile}_camt053_*.xml"),
        account="",
        reason="There they are",
        doer=operator("Olga"),
        now=utc_now(),
    )
    day = life.we.profile.settlement_date(life.we.now())
    opening = Opening(
        rail=RAIL,
        number=life.we.known["account"],
        format=StatementFormat.CAMT,
        opened_on=day - timedelta(days=1),
        cents=life.we.position,
    )
    accounts.put_in_force(opening, reason="As the bank says", by="Olga", now=utc_now())
    return day


def move(life: Life, cents: int) -> PositionMove:
    """People move money, and have the bank do it."""
    moved = Move(rail=RAIL, cents=cents)
    row = positions.put_in_force(
        move=moved, reason="Salaries", doer=operator("Olga"), now=utc_now()
    )
    life.operator.ask("fund", profile=life.profile, amount=cents, reference=row.pk)
    return row


def end_the_day(life: Life, day: date) -> datetime:
    """The network's clock goes there; what came of it is taken."""
    ends = end_of(life, day)
    life.operator.ask("clock", to=ends.isoformat())
    close(ends + timedelta(hours=1))
    return ends


def close(now: datetime) -> None:
    assert fetching.fetch_due(now=now) >= 1
    reading.read_due(now=now)
    running.run_due(now=now)
    closing.close_due(now=now)


def test_a_day_closes_at_zero(life, acme):
    day = begin(life)
    fund(acme, 100_000)
    source = make_source(acme)

    kept, undone = topped_up(life, acme, source, 25_000), topped_up(life, acme, source, 12_000)
    out = paid(life, acme, 10_000, "7770001")
    returned = paid(life, acme, 7_000, "51005")
    life.pass_seconds(5)  # the bank refuses it in the end, and the money comes back
    go_on(life)
    give_back(life, undone)
    for row, status in (
        (kept, "completed"),
        (undone, "failed"),
        (out, "completed"),
        (returned, "failed"),
    ):
        row.refresh_from_db()
        assert row.status == status, row.pk
    end_the_day(life, day)

    closed = ClosedDay.objects.latest("day")
    assert (closed.day, closed.bank) == (day, life.we.position)
    assert ClosedDay.objects.count() == 2
    amounts = sorted(StatementLine.objects.values_list("amount", flat=True))
    assert amounts == [-12_000, -10_000, -7_000, 7_000, 12_000, 25_000]
    assert set(Match.objects.values_list("rule", flat=True)) == {"end_to_end"}
    assert Match.objects.count() == len(amounts)
    assert not ExpectedLine.objects.filter(match=None).exists()
    assert [str(each) for each in invariants.check(now=utc_now(), full=True).findings] == []


def test_money_that_people_moved_is_found_by_their_move(life):
    day = begin(life)
    had = life.we.position
    there, back = move(life, 50_000), move(life, -20_000)

    end_the_day(life, day)

    closed = ClosedDay.objects.latest("day")
    assert (closed.day, closed.bank, closed.in_transit) == (day, had + 30_000, 0)
    found = ExpectedLine.objects.values_list("reference", "amount", "match__rule")
    assert set(found) == {(there.pk, 50_000, "end_to_end"), (back.pk, -20_000, "end_to_end")}


def test_money_that_people_moved_after_the_networks_day_is_shown_by_the_next_one(life):
    """The books have the calendar's day, and FedNow's next day has begun at 19:00."""
    day, had = begin(life), life.we.position
    ends = end_of(life, day)
    life.operator.ask("clock", to=(ends + timedelta(minutes=1)).isoformat())
    move(life, 50_000)

    close(ends + timedelta(hours=1))
    closed = ClosedDay.objects.latest("day")
    assert (closed.day, closed.bank, closed.in_transit) == (day, had, 50_000)

    end_the_day(life, day + timedelta(days=1))
    closed = ClosedDay.objects.latest("day")
    assert (closed.day, closed.bank) == (day + timedelta(days=1), had + 50_000)
    assert closed.in_transit == 0
    assert [str(each) for each in invariants.check(now=utc_now(), full=True).findings] == []


def test_a_name_that_the_books_do_not_have_yet_waits_for_them(life):
    """A move that another person has still to approve is no unknown credit."""
    day = begin(life)
    proposed = positions.propose(
        move=Move(rail=RAIL, cents=50_000), reason="Salaries", doer=operator("Ann"), now=utc_now()
    )
    life.operator.ask("fund", profile=life.profile, amount=50_000, reference=proposed.pk)
    end_the_day(life, day)
    assert ClosedDay.objects.count() == 1
    assert not Match.objects.exists()

    approved_at = utc_now()
    transfers.approve(proposed.pk, by="Ben", now=approved_at)
    witnessed.said("position_move.approved", proposed.pk, "Ben", approved_at)
    now = end_of(life, day) + timedelta(hours=2)
    running.run_due(now=now)
    closing.close_due(now=now)

    assert ClosedDay.objects.latest("day").day == day
    assert Match.objects.get().rule == "end_to_end"


def test_a_rail_that_is_not_there_has_no_account(db):
    with pytest.raises(AccountRefused, match="no such rail"):
        accounts.put_in_force(
            Opening(
                rail="nowhere",
                number="1",
                format=StatementFormat.CAMT,
                opened_on=date(2026, 11, 30),
                cents=0,
            ),
            reason="As the bank says",
            by="Olga",
            now=utc_now(),
        )
    assert expecting.take("nowhere", now=utc_now()) == 0
