"""Movements: which lines are one, and that together they do what the lines of the same span do."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from balance import movements, selectors
from balance import services as ledger
from balance.kinds import PostingType
from balance.movements import Direction, Part, Span
from common import ids
from common.errors import NotFound
from tenants.actors import SYSTEM
from tests.balance.builders import fund, movement
from tests.builders import NOW


def day(number):
    return NOW + timedelta(days=number)


def found(tenant, **asked):
    """(type of the first line, what became of it, change of available, of locked), newest first."""
    return [
        (each.type, each.end, each.available_delta, each.locked_delta)
        for each in movements.newest(tenant.pk, **{"count": 100, **asked})
    ]


@pytest.fixture
def lived(acme):
    """One movement of each kind, and their sources."""
    funding, payment, failed, open_ = ids.new("ftx"), *(ids.new("pay") for _ in range(3))
    fund(acme, 100_000, source_id=funding, now=day(0))
    for number, source in enumerate((payment, failed, open_)):
        ledger.lock(**movement(acme, 1_000 * (number + 1), source_id=source, now=day(1)))
    ledger.settle(**movement(acme, 1_000, source_id=payment, now=day(3)))
    ledger.unlock(**movement(acme, 2_000, source_id=failed, now=day(3)))
    ledger.credit(**movement(acme, 1_000, source_id=payment, now=day(5)))  # its bank sent it back
    returned = {"source_type": "funding_transaction", "source_id": funding}
    ledger.debit(**movement(acme, 100_000, **returned, now=day(6)))
    for kind in ("credit", "debit"):
        ledger.adjust(
            tenant_id=acme.pk, type=kind, amount=70, reason="Fee", actor=SYSTEM, now=day(7)
        )
    return {"funding": funding, "payment": payment, "failed": failed, "open": open_}


class TestAMovement:
    def test_is_a_payment_with_what_became_of_it_and_each_credit_and_debit(self, acme, lived):
        assert found(acme) == [
            ("debit", None, -70, 0),
            ("credit", None, 70, 0),
            ("debit", None, -100_000, 0),
            ("credit", None, 1_000, 0),
            ("lock", None, -3_000, 3_000),
            ("lock", "unlock", 0, 0),
            ("lock", "settlement", -1_000, 0),
            ("credit", None, 100_000, 0),
        ]

    def test_stands_where_it_began_and_keeps_its_id(self, acme, lived):
        rows = movements.newest(acme.pk, count=100)

        numbers = [each.first["sequence"] for each in rows]
        assert numbers == sorted(numbers, reverse=True)
        payment = next(each for each in rows if each.first["source_id"] == lived["payment"])
        assert payment.first["created_at"] == day(5)
        first = selectors.transactions(acme.pk).get(source_id=lived["payment"], type="lock")
        assert first["id"] in {each.id for each in rows}

    def test_goes_in_or_out(self, acme, lived):
        assert found(acme, direction=Direction.IN) == [
            ("credit", None, 70, 0),
            ("credit", None, 1_000, 0),
            ("credit", None, 100_000, 0),
        ]
        assert [row[0] for row in found(acme, direction=Direction.OUT)] == [
            "debit",
            "debit",
            "lock",
            "lock",
            "lock",
        ]


class TestASpan:
    def span(self, tenant, first, last):
        return movements.between(tenant.pk, day(first), day(last))

    def test_leaves_a_release_of_earlier_money_alone_and_hides_its_settlement(self, acme, lived):
        assert found(acme, span=self.span(acme, 2, 4)) == [("unlock", "unlock", 2_000, -2_000)]

    def test_that_ends_before_a_release_does_not_know_of_it(self, acme, lived):
        assert found(acme, span=self.span(acme, 1, 2)) == [
            ("lock", None, -3_000, 3_000),
            ("lock", None, -2_000, 2_000),
            ("lock", None, -1_000, 1_000),
        ]

    def test_begins_at_its_first_moment_and_ends_before_its_last(self, acme, lived):
        assert found(acme, span=self.span(acme, 6, 7)) == [("debit", None, -100_000, 0)]

    def test_of_every_length_adds_up_to_its_lines(self, acme, lived):
        lines = list(selectors.transactions(acme.pk).order_by("sequence"))
        for after in range(len(lines) + 1):
            for upto in range(after, len(lines) + 1):
                span = Span(after=after, upto=upto)
                rows = movements.newest(acme.pk, span=span, count=100)
                within = lines[after:upto]

                assert sum(row.available_delta for row in rows) == sum(
                    line["available_delta"] for line in within
                )
                assert rows == movements.oldest(acme.pk, span=span, count=100)[::-1]

    def test_adds_up_whatever_happened_in_which_order(self, acme):
        tell = random.Random(16)
        fund(acme, 10_000_000)
        held: list[Any] = []
        for number in range(120):
            now = NOW + timedelta(minutes=number)
            if held and tell.random() < 0.5:
                arguments = held.pop(tell.randrange(len(held))) | {"now": now}
                tell.choice((ledger.unlock, ledger.settle))(**arguments)
            elif tell.random() < 0.6:
                held.append(movement(acme, tell.randrange(1, 900), now=now))
                ledger.lock(**held[-1])
            else:
                tell.choice((ledger.credit, ledger.debit))(
                    **movement(acme, tell.randrange(1, 900), now=now)
                )
        lines = list(selectors.transactions(acme.pk).order_by("sequence"))
        for _ in range(60):
            after, upto = sorted(tell.sample(range(len(lines) + 1), 2))
            rows = movements.newest(acme.pk, span=Span(after=after, upto=upto), count=1_000)
            within = lines[after:upto]

            assert sum(row.available_delta for row in rows) == sum(
                line["available_delta"] for line in within
            )
            # Only settlements of money that was set aside earlier are in no movement.
            begun = {line["source_id"] for line in within if line["type"] == "lock"}
            assert sum(row.locked_delta for row in rows) == sum(
                line["locked_delta"]
                for line in within
                if line["type"] != "settlement" or line["source_id"] in begun
            )


class TestPages:
    def test_follow_each_other_without_a_gap_in_both_directions(self, acme, lived):
        span = Span(after=3)
        whole = [row.id for row in movements.newest(acme.pk, span=span, count=100)]
        assert len(whole) == 6  # the release of line 3 is one of them

        down, before = [], None
        while rows := movements.newest(acme.pk, span=span, before=before, count=3):
            down += [row.id for row in rows]
            before = rows[-1].first["sequence"]
        up, beyond = [], None
        while rows := movements.oldest(acme.pk, span=span, beyond=beyond, count=3):
            up += [row.id for row in rows]
            beyond = rows[-1].first["sequence"]

        assert down == whole
        assert up == whole[::-1]

    def test_cost_two_queries_whatever_is_asked(self, acme, lived, django_assert_num_queries):
        asked = {"span": Span(after=1, upto=99), "direction": Direction.OUT, "before": 50}
        with django_assert_num_queries(2):
            assert found(acme, **asked)
        with django_assert_num_queries(2):
            assert movements.oldest(acme.pk, span=Span(after=1), beyond=1, count=50)


class TestAPart:
    def part(self, tenant, source, kind):
        line = selectors.transactions(tenant.pk).get(source_id=source, type=kind)
        return movements.part_of(tenant_id=tenant.pk, line_id=line["id"])

    @pytest.mark.parametrize(
        ("source", "kind", "shown"),
        [
            ("payment", "lock", ("lock", "settlement", -1_000, 0)),
            ("payment", "settlement", ("lock", "settlement", -1_000, 0)),
            ("payment", "credit", ("credit", None, 1_000, 0)),
            ("failed", "unlock", ("lock", "unlock", 0, 0)),
            ("funding", "credit", ("credit", None, 100_000, 0)),
            ("funding", "debit", ("debit", None, -100_000, 0)),
        ],
    )
    def test_of_a_line_is_its_movement(self, acme, lived, source, kind, shown):
        assert found(acme, part=self.part(acme, lived[source], kind)) == [shown]

    def test_of_a_source_is_all_that_it_moved(self, acme, lived):
        assert found(acme, part=Part(lived["payment"])) == [
            ("credit", None, 1_000, 0),
            ("lock", "settlement", -1_000, 0),
        ]

    def test_of_another_direction_is_nothing(self, acme, lived):
        part = self.part(acme, lived["payment"], "lock")

        assert found(acme, part=part, direction=Direction.IN) == []


class TestAnotherTenant:
    def test_sees_none_of_it_and_none_of_its_lines(self, acme, rival, lived):
        theirs = movements.newest(acme.pk, count=1)[0]
        fund(rival, 5)

        assert found(rival) == [("credit", None, 5, 0)]
        assert found(rival, part=Part(lived["payment"])) == []
        assert len(movements.oldest(rival.pk, count=100)) == 1
        with pytest.raises(NotFound):
            movements.part_of(tenant_id=rival.pk, line_id=theirs.id)
        with pytest.raises(NotFound):
            movements.position(tenant_id=rival.pk, line_id=theirs.id)

    def test_with_a_source_of_the_same_name_ends_nothing_here(self, acme, rival):
        """No id is given twice, but the ledger's key holds the tenant."""
        shared = ids.new("pay")
        for tenant in (acme, rival):
            fund(tenant, 500)
            ledger.lock(**movement(tenant, 100, source_id=shared))
        ledger.settle(**movement(rival, 100, source_id=shared))

        assert found(acme)[0] == (PostingType.LOCK, None, -100, 100)
