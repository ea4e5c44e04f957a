"""Rows as a queue, tried on the mail outbox."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import transaction

from common import leases
from tenants.models import OutgoingEmail
from tests.builders import NOW

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def make_work(**columns):
    columns = {"to": "a@b.example", "template": "t", "next_attempt_at": NOW, **columns}
    return OutgoingEmail.objects.create(created_at=NOW, **columns)


def claim(now=NOW, limit=10):
    return leases.claim(OutgoingEmail.objects.all(), now=now, limit=limit, lease=MINUTE)


class TestClaim:
    def test_late_in_a_sweep_is_for_as_long_as_early(self):
        make_work()

        (row,) = leases.claim(
            OutgoingEmail.objects.all(),
            now=NOW,
            limit=1,
            lease=MINUTE,
            since=time.monotonic() - 90.01,
        )

        row.refresh_from_db()
        assert row.leased_until == NOW + timedelta(seconds=90) + MINUTE

    def test_takes_what_is_due_oldest_first(self):
        later = make_work(next_attempt_at=NOW - timedelta(seconds=1))
        first = make_work(next_attempt_at=NOW - MINUTE)
        make_work(next_attempt_at=NOW + timedelta(microseconds=1))
        make_work(next_attempt_at=None)

        assert claim() == [first, later]

    def test_takes_no_more_than_its_limit(self):
        for _ in range(3):
            make_work()

        assert len(claim(limit=2)) == 2
        assert len(claim(limit=2)) == 1
        assert claim(limit=2) == []

    def test_leases_the_row_and_counts_the_attempt(self):
        make_work()

        (row,) = claim()

        stored = OutgoingEmail.objects.get()
        for each in (row, stored):
            assert each.leased_until == NOW + MINUTE
            assert (each.lease_version, each.attempts) == (1, 1)
            assert each.next_attempt_at == NOW

    def test_takes_a_row_again_when_its_lease_ran_out(self):
        make_work()
        claim()

        assert claim(now=NOW + MINUTE - timedelta(microseconds=1)) == []
        (again,) = claim(now=NOW + MINUTE)
        assert (again.lease_version, again.attempts) == (2, 2)

    def test_keeps_to_its_queryset(self):
        make_work(template="other")

        only = OutgoingEmail.objects.filter(template="t")
        assert leases.claim(only, now=NOW, limit=10) == []

    @pytest.mark.django_db(transaction=True)
    def test_is_refused_inside_a_transaction(self):
        with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
            claim()


class TestSettle:
    def test_ends_the_work_and_records_the_result(self):
        make_work()
        (row,) = claim()

        assert leases.finish(row, sent_at=NOW)

        stored = OutgoingEmail.objects.get()
        for each in (row, stored):
            assert (each.next_attempt_at, each.leased_until, each.sent_at) == (None, None, NOW)
            assert each.lease_version == 2

    def test_may_plan_another_attempt(self):
        make_work()
        (row,) = claim()

        leases.finish(row, next_attempt_at=NOW + MINUTE)

        assert claim(now=NOW) == []
        assert len(claim(now=NOW + MINUTE)) == 1

    def test_of_a_worker_that_slept_past_its_lease_changes_nothing(self):
        make_work()
        (slept,) = claim()
        (successor,) = claim(now=NOW + MINUTE)

        assert not leases.finish(slept, last_error="late")

        stored = OutgoingEmail.objects.get()
        assert (stored.last_error, stored.lease_version) == ("", 2)
        assert slept.last_error == ""
        assert leases.finish(successor, sent_at=NOW)

    def test_counts_once(self):
        make_work()
        (row,) = claim()
        (twin,) = OutgoingEmail.objects.all()

        assert leases.finish(row)
        assert not leases.finish(twin)
