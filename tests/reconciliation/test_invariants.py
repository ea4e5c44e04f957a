"""What the audit says of bank statements, beside what `tests.invariants.corruptions` breaks."""

from __future__ import annotations

import pytest
from django.db import connection

from common.audits import Scope
from reconciliation import invariants
from reconciliation.models import BankStatement
from tests.database import owner
from tests.reconciliation.statements import MONDAY, OPENING, TUESDAY, bai2_of, codes, take

pytestmark = pytest.mark.django_db


def found(*, full=True):
    return [finding.code for finding in invariants.check(Scope(full=full))]


def change(statement):
    """As somebody would who owns the tables."""
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(statement)


def test_finds_nothing_in_right_ones(account):
    take(bai2_of(MONDAY, 5_000, -1))
    take(bai2_of(TUESDAY, 1, opening=OPENING + 4_999))

    assert found() == found(full=False) == []


@pytest.mark.parametrize(
    "changed",
    [
        'reconciliation_statementline SET "references" = \'{"customer": "MINE"}\'',
        "reconciliation_statementline SET return_code = 'R01'",
        "reconciliation_statementline SET is_reversal = true",
        "reconciliation_bankstatement SET last_day = last_day + 1",
        "reconciliation_bankstatement SET first_day = first_day - 1",
    ],
    ids=["references", "return-code", "reversal", "last-day", "first-day"],
)
def test_compares_all_that_matching_goes_by_with_the_bytes(account, changed):
    take(bai2_of(MONDAY, 5_000))

    change(f"UPDATE {changed}")

    assert found() == ["statement_bytes"]


def test_compares_the_balances_with_the_bytes(account):
    """Nothing else tells where the account's agreed balance was changed with them."""
    take(bai2_of(MONDAY, 5_000))

    change("UPDATE reconciliation_bankstatement SET opening = opening + 1, closing = closing + 1")
    change("UPDATE reconciliation_settlementaccount SET opening = opening + 1")

    assert found() == ["statement_bytes"]


class TestManyLines:
    """The usual check reads some of them, the full one reads all."""

    def compared(self, *, full):
        scope = Scope(full=full)
        return [finding.code for finding in invariants.check_bytes(scope, lines_max=2)]

    def test_of_one_statement_hide_no_other_one(self, account):
        take(bai2_of(MONDAY, 5_000))
        take(bai2_of(TUESDAY, 1, 2, 3, opening=OPENING + 5_000))
        monday = BankStatement.objects.earliest("last_day")

        change(
            "UPDATE reconciliation_statementline SET kind = 'fee'"
            f" WHERE statement_id = '{monday.pk}'"
        )

        assert self.compared(full=False) == ["statement_bytes"]

    def test_are_compared_by_the_full_check(self, account):
        take(bai2_of(MONDAY, 1, 2, 3))

        change("UPDATE reconciliation_statementline SET kind = 'fee' WHERE amount = 3")

        assert self.compared(full=False) == []
        assert self.compared(full=True) == ["statement_bytes"]


def test_a_known_statement_with_many_notes_is_explained(account):
    """Each of its lines has a code of the bank's own, which is noted."""
    amounts = [5_000] * 250
    content = bai2_of(MONDAY, *amounts).replace(b"16,166,", b"16,925,")
    take(content)

    again = take(content.replace(b"0900,1,", b"0901,1,") + b"\n")

    assert "statement_known" in codes(again)
    assert found() == []
