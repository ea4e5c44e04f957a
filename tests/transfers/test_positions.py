"""Money that people move to an instant network: two of them, the position, and the books."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from balance.operator.totals import totals
from common.audits import Scope
from common.clock import utc_now
from networks.instant.models import Position, PositionMove
from networks.instant.network import InstantNetwork
from tenants.models import AuditEvent
from tests.networks.instant.builders import RAIL, make_rail, payment
from tests.networks.instant.operator import Operator
from transfers import positions
from transfers.positions import Move, MoveRefused

pytestmark = pytest.mark.django_db

FUND = Move(rail=RAIL, cents=50_000)


@pytest.fixture(autouse=True)
def rail(tmp_path):
    make_rail(tmp_path, keeps_position=True)
    return Operator(tmp_path, "fednow")


def propose(move=FUND):
    return positions.propose(move, reason="Friday's payroll", by="usr_ada", now=utc_now())


def approve(row, by="usr_bob"):
    return positions.approve(row.pk, by=by, now=utc_now())


def accounts():
    """What each account of the books has, in cents."""
    found: Counter[str] = Counter()
    for each in totals():
        found[each.name] += each.debit - each.credit
    return found


def free():
    assert list(positions.check(Scope(full=True))) == []
    return Position.objects.get(pk=RAIL).free


class TestTwoPeople:
    def test_move_money_that_was_outside_the_books(self):
        row = propose()
        assert (free(), accounts()) == (0, {})

        approve(row)

        assert free() == 50_000
        assert accounts() == {f"settlement:{RAIL}": 50_000, "own_transfers": -50_000}

    def test_move_money_from_an_account_at_a_bank(self):
        approve(propose(replace(FUND, bank="sandbox")))

        assert accounts() == {
            f"settlement:{RAIL}": 50_000,
            "settlement:sandbox": -50_000,
            "own_transfers": 0,
        }

    def test_are_two(self):
        row = propose()

        with pytest.raises(MoveRefused, match="somebody else decides"):
            approve(row, by="usr_ada")

        assert (free(), accounts()) == (0, {})

    def test_decide_once(self):
        row = propose()
        approve(row)

        with pytest.raises(MoveRefused, match="decided"):
            approve(row, by="usr_cy")
        with pytest.raises(MoveRefused, match="decided"):
            positions.reject(row.pk, refusal="No", by="usr_cy", now=utc_now())

        assert free() == 50_000

    def test_that_say_no_move_nothing(self):
        row = propose()
        positions.reject(row.pk, refusal="Not today", by="usr_bob", now=utc_now())

        assert (free(), accounts()) == (0, {})
        propose()  # the next one may be asked for

    def test_are_asked_one_move_at_a_time(self):
        propose()

        with pytest.raises(MoveRefused, match="waits"):
            propose()

        assert PositionMove.objects.count() == 1


class TestTakingBack:
    def test_leaves_what_payments_have_ordered(self, rail):
        approve(propose())
        InstantNetwork(RAIL).submit_many([payment(amount=30_000)], now=utc_now())
        back = propose(Move(rail=RAIL, cents=-20_001))

        with pytest.raises(MoveRefused, match=r"Only \$200\.00"):
            approve(back)

        assert free() == 20_000

    def test_is_booked_the_other_way(self):
        approve(propose())
        approve(propose(Move(rail=RAIL, cents=-20_000)))

        assert free() == 30_000
        assert accounts() == {f"settlement:{RAIL}": 30_000, "own_transfers": -30_000}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rail": "nowhere"}, "no such instant rail"),
        ({"bank": "nowhere"}, "no such other rail"),
        ({"bank": RAIL}, "no such other rail"),
        ({"cents": 0}, "how much"),
        ({"cents": 10**15 + 1}, "how much"),
    ],
)
def test_refuses_what_cannot_be(changes, why):
    with pytest.raises(MoveRefused, match=why):
        propose(replace(FUND, **changes))

    assert not PositionMove.objects.exists()


@pytest.mark.parametrize("reason", ["", "  ", "a" * 301])
def test_wants_a_reason(reason):
    with pytest.raises(MoveRefused, match="reason"):
        positions.propose(FUND, reason=reason, by="usr_ada", now=utc_now())


class TestTheCommand:
    def run(self, cents, *more):
        out = StringIO()
        who = ("--operator", "Ada", "--reason", "Payroll")
        call_command("move_position", RAIL, "--json", *more, *who, "--", str(cents), stdout=out)
        return json.loads(out.getvalue())

    def test_moves_at_once_and_is_written_down(self):
        said = self.run(50_000)

        row = PositionMove.objects.get()
        assert said == {"moveId": row.pk, "rail": RAIL, "balance": 50_000, "reserved": 0}
        assert (row.by_command, row.proposed_by, row.decided_by) == (True, "Ada", "Ada")
        line = AuditEvent.objects.get(subject_id=row.pk)
        assert (line.action, line.details["operator"]) == ("position_move.moved", "Ada")

    def test_takes_back_no_more_than_there_is(self):
        with pytest.raises(CommandError, match="position_move_refused"):
            self.run(-1)

        assert not PositionMove.objects.exists()
        assert not AuditEvent.objects.filter(action__startswith="position_move").exists()


class TestTheAudit:
    def test_misses_a_line_of_the_books(self):
        row = propose()
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE instant_positionmove SET status = 'approved', decided_by = 'usr_bob',"
                " decided_at = now() WHERE id = %s",
                [row.pk],
            )

        (finding,) = positions.check(Scope())

        assert finding.code == "position_move_books"
        assert finding.message == "is approved, and its lines in the books are missing"
