from __future__ import annotations

from copy import copy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from networks.ach.inbound import deciding, rates
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import AchEntry, Originator
from tests.networks.ach.inbound.builders import (
    NOW,
    TERMS,
    answer_batch,
    answer_file,
    make_entry,
    returned,
    take,
    unsaved_entry,
)

pytestmark = pytest.mark.django_db

SENT = NOW - timedelta(days=2)


def make_debits(batch, count, *, code="", first=1000, **columns):
    """Debits that were sent; with a code they came back by it."""
    status = {"status": "returned", "code": code, "ended_at": NOW} if code else {}
    AchEntry.objects.bulk_create(
        [
            unsaved_entry(
                batch, first + number, instruction_id=f"ftx_{first + number}", **status | columns
            )
            for number in range(count)
        ]
    )


def judged(batch):
    rates.judge([batch.originator_id], terms=TERMS, now=NOW)
    return Originator.objects.get(pk=batch.originator_id)


class TestCounting:
    def test_is_by_the_day_on_which_a_debit_was_sent(self, batch):
        old = NOW - timedelta(days=61)
        make_debits(batch, 5)
        make_debits(batch, 2, code="R10", first=100)
        make_debits(batch, 1, code="R02", first=200)
        make_debits(batch, 5, code="R10", first=300, sent_at=old, created_at=old)
        make_debits(batch, 5, first=400, is_debit=False, transaction_code=22)
        make_debits(batch, 3, first=500, status="rejected", code="R13", accepted_at=None)
        make_debits(batch, 2, first=600, code="takeback")  # we took them back: no bank did

        counted = rates.count(Originator.objects.get(), now=NOW)

        assert (counted.debits, counted.unauthorized) == (10, 2)
        assert (counted.administrative, counted.returned) == (1, 3)
        assert [(level.name, percent) for level, _, percent in counted.shares] == [
            ("unauthorized", 4000),
            ("administrative", 333),
            ("overall", 200),
        ]


class TestAStop:
    @pytest.mark.parametrize(
        ("code", "returns", "is_stopped"),
        [
            ("R10", 1, False),  # 0.25 %
            ("R10", 2, True),  # 0.5 %, which is the level
            ("R02", 11, False),
            ("R02", 12, True),  # 3 %
            ("R01", 59, False),
            ("R01", 60, True),  # 15 %
        ],
    )
    def test_comes_at_the_level(self, batch, code, returns, is_stopped):
        make_debits(batch, 400 - returns)
        make_debits(batch, returns, code=code, first=5000)

        originator = judged(batch)

        assert (originator.debits_stopped_at is not None) is is_stopped
        if is_stopped:
            assert f"{returns} of 400 debits" in originator.debits_stopped_why

    def test_needs_two_hundred_debits(self, batch, log):
        make_debits(batch, 100)
        make_debits(batch, 99, code="R10", first=5000)

        assert judged(batch).debits_stopped_at is None
        assert log.of("ach_return_rate_high")

    def test_comes_with_the_return_that_reaches_it(self, batch):
        make_debits(batch, 398)
        one, two = make_entry(batch, 1), make_entry(batch, 2)

        take(answer_file(answer_batch(*returned(one, "R10"))))
        assert Originator.objects.get().debits_stopped_at is None
        take(answer_file(answer_batch(*returned(two, "R10"))))

        assert Originator.objects.get().debits_stopped_at == NOW

    def test_comes_with_the_return_that_a_person_matches(self, batch):
        make_debits(batch, 398)
        make_debits(batch, 1, code="R10", first=2000)
        entry = make_entry(batch, 1)
        file = take(answer_file(answer_batch(*returned(entry, "R10", amount=entry.amount - 1))))
        assert Originator.objects.get().debits_stopped_at is None

        deciding.return_entry(
            record_id=file.records.get().pk, entry_id=entry.pk, staff="anna", why="x", now=NOW
        )

        assert Originator.objects.get().debits_stopped_at == NOW

    def test_lasts_until_a_person_ends_it_and_then_begins_anew(self, batch):
        make_debits(batch, 300)
        make_debits(batch, 300, code="R10", first=5000)
        originator = judged(batch)
        with pytest.raises(NotPossible):
            deciding.release_debits(originator_id="ori_none", now=NOW)

        deciding.release_debits(originator_id=originator.pk, now=NOW)

        originator = judged(batch)
        assert (originator.debits_stopped_at, originator.debits_released_at) == (None, NOW)
        later = NOW + timedelta(days=1)
        make_debits(batch, 200, first=9000, sent_at=later)
        make_debits(batch, 50, code="R10", first=9500, sent_at=later)
        rates.judge([originator.pk], terms=TERMS, now=later)
        originator.refresh_from_db()
        assert originator.debits_stopped_why.startswith("50 of 250 debits")


def test_the_debits_of_an_originator_are_found_by_its_own_index(batch):
    """Among so many that to read a part of them is cheaper than to read all."""
    others = copy(batch)
    others.originator = Originator.objects.create(
        rail_id=batch.originator.rail_id,
        tenant_id="other",
        company_name="OTHER",
        company_id="2",
        created_at=NOW,
    )
    for first in (10_000, 11_000, 12_000):
        make_debits(others, 1_000, first=first)
    make_debits(batch, 20)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE ach_achentry")
        with CaptureQueriesContext(connection) as asked:
            assert rates.count(batch.originator, now=NOW).debits == 20
        cursor.execute(f"EXPLAIN {asked.captured_queries[-1]['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "ach_entry_rates" in plan, plan
