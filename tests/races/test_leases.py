"""Many workers on one queue: every row is claimed once, and only its holder settles it."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain

import pytest

from common import leases
from tenants.models import OutgoingEmail
from tests.builders import NOW
from tests.races.together import together

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = 200
WORKERS = 8


def make_rows():
    OutgoingEmail.objects.bulk_create(
        OutgoingEmail(
            to="a@b.example",
            template="t",
            created_at=NOW,
            next_attempt_at=NOW - timedelta(seconds=number),
        )
        for number in range(ROWS)
    )


def drain(_worker):
    mine = []
    while rows := leases.claim(OutgoingEmail.objects.all(), now=NOW, limit=7):
        mine += rows
    return mine


def test_eight_workers_claim_disjoint_rows():
    make_rows()

    claims = together(drain, workers=WORKERS)

    claimed = [row.pk for row in chain(*claims)]
    assert len(claimed) == len(set(claimed)) == ROWS
    assert set(OutgoingEmail.objects.values_list("attempts", "lease_version")) == {(1, 1)}


def test_of_two_holders_of_one_row_the_later_one_settles():
    make_rows()
    slept = leases.claim(OutgoingEmail.objects.all(), now=NOW, limit=ROWS)
    later = NOW + leases.LEASE
    holders = [
        slept,
        leases.claim(OutgoingEmail.objects.all(), now=later, limit=ROWS),
    ]

    def settle(worker):
        return [
            leases.finish(row, sent_at=NOW + timedelta(hours=worker)) for row in holders[worker]
        ]

    late, current = together(settle, workers=2)

    assert late == [False] * ROWS
    assert current == [True] * ROWS
    sent = set(OutgoingEmail.objects.values_list("sent_at", flat=True))
    assert sent == {NOW + timedelta(hours=1)}


def test_a_claim_never_waits_for_another():
    make_rows()

    def claim_some(_worker):
        return leases.claim(OutgoingEmail.objects.all(), now=NOW, limit=ROWS // WORKERS)

    sizes = sorted(len(rows) for rows in together(claim_some, workers=WORKERS))

    assert sum(sizes) <= ROWS
    assert sizes[-1] == ROWS // WORKERS
