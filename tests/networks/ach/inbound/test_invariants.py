"""What the audit finds between files from banks, entries and what was told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from common.audits import Scope
from networks.ach import invariants
from tests.database import owner
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_batch,
    answer_file,
    make_entry,
    returned,
    take,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _books(batch):
    """One entry that came back, one that was rejected and came back, one that did not."""
    back, rejected = make_entry(batch, 1), make_entry(batch, 2, status="rejected", code="R13")
    make_entry(batch, 3)
    take(answer_file(answer_batch(*returned(back), *returned(rejected, "R13"))))


def found(**scope):
    return {finding.code for finding in invariants.check(Scope(**scope))}


def test_right_books_have_no_findings():
    assert found() == found(full=True) == set()


@pytest.mark.parametrize(
    ("damage", "usual", "daily"),
    [
        ("UPDATE ach_achentry SET status = 'final' WHERE status = 'returned'", True, True),
        ("UPDATE ach_achentry SET status = 'returned' WHERE status = 'accepted'", False, True),
        ("UPDATE ach_achentry SET status = 'returned' WHERE status = 'rejected'", True, True),
        ("UPDATE ach_achevent SET voided_at = now() WHERE kind = 'returned'", True, True),
        ("DELETE FROM ach_achevent WHERE kind = 'returned'", True, True),
        ("UPDATE ach_achevent SET amount = amount - 1 WHERE kind = 'returned'", True, True),
        ("UPDATE ach_achevent SET voided_at = NULL WHERE kind = 'final'", True, True),
        ("UPDATE ach_inrecord SET status = 'review' WHERE code = 'R01'", False, True),
        (
            "INSERT INTO ach_achevent (rail_id, entry_id, instruction_id, kind, code, reason,"
            " amount, trace_number, reference, occurred_at, due_at, acknowledged)"
            " SELECT rail_id, entry_id, instruction_id, kind, code, reason, amount, trace_number,"
            " reference, occurred_at, due_at, acknowledged FROM ach_achevent"
            " WHERE kind = 'returned'",
            True,
            True,
        ),
    ],
)
def test_damage_is_found(damage, usual, daily):
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(damage)
        assert cursor.rowcount > 0

    assert ("ach_return" in found(since=NOW - timedelta(hours=1))) is usual
    assert ("ach_return" in found(full=True)) is daily


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ach_infile SET status = 'parsed'",
        "UPDATE ach_infile SET status = 'stored'",
        "UPDATE ach_inrecord SET status = 'new' WHERE code = 'R13'",
    ],
)
def test_a_forgotten_file_is_found(damage):
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(damage)

    assert "ach_file_forgotten" in found(since=NOW - timedelta(hours=1))
    assert "ach_file_forgotten" not in found(since=NOW + timedelta(hours=1))
