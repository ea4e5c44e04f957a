"""What the audit says of bank statements, beside what `tests.invariants.corruptions` breaks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from common.audits import Scope
from networks import calendar
from networks.ach import proposing
from networks.ach.inbound import deciding, storing
from networks.ach.models.inbound import InFolder
from networks.ach.models.proposals import ProposalKind
from reconciliation import invariants, reading
from reconciliation.models import BankStatement
from tests.database import owner
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    TUESDAY,
    bai2_of,
    codes,
    in_force,
    take,
)

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


def test_the_full_check_compares_all_statements_with_the_bytes(rail):
    in_force(opened_on=MONDAY - timedelta(days=35))
    days = [MONDAY - timedelta(days=each) for each in range(35, -5, -1)]
    banking_days = [day for day in days if calendar.is_banking_day(day)]
    for day in banking_days:
        take(bai2_of(day))
    oldest = BankStatement.objects.earliest("taken_at", "pk")

    change(f"UPDATE reconciliation_bankstatement SET number = 2 WHERE id = '{oldest.pk}'")

    assert len(banking_days) > 20

    assert found(full=False) == []
    assert found() == ["statement_bytes"]


class TestAnUpload:
    def upload(self, *, by_command=False):
        file = storing.store(
            rail_id=RAIL,
            folder=InFolder.STATEMENTS,
            name="monday.txt",
            content=[bai2_of(MONDAY, 5_000)],
            uploaded_by="usr_1",
            by_command=by_command,
            now=NOW,
        ).file
        reading.read_due(now=NOW)
        return file

    def propose(self, file):
        return proposing.propose(
            ProposalKind.TAKE_STATEMENT,
            rail=RAIL,
            subject=file.pk,
            reason="From the bank's page",
            by="usr_1",
            now=NOW,
        )

    def test_that_waits_for_a_second_person_is_not_forgotten(self, account):
        self.propose(self.upload())

        assert found() == []

    def test_that_nobody_is_asked_about_is_forgotten(self, account):
        self.upload()

        assert found() == ["statement_forgotten"]

    def test_that_a_command_took_is_right(self, account):
        self.upload(by_command=True)

        assert BankStatement.objects.exists()
        assert found() == []

    def test_that_two_people_had_taken_is_right(self, account):
        proposing.approve(self.propose(self.upload()).pk, by="usr_2", now=NOW)
        reading.read_due(now=NOW)

        assert BankStatement.objects.exists()
        assert found() == []

    @pytest.mark.parametrize("is_asked", [True, False])
    def test_that_was_taken_without_a_second_person_is_named(self, account, is_asked):
        """As by whoever can write into the tables."""
        file = self.upload()
        if is_asked:
            self.propose(file)
        deciding.release_upload(file_id=file.pk, now=NOW)
        reading.read_due(now=NOW)

        assert found() == found(full=False) == ["statement_alone"]


def test_a_known_statement_with_many_notes_is_explained(account):
    """Each of its lines has a code of the bank's own, which is noted."""
    amounts = [5_000] * 250
    content = bai2_of(MONDAY, *amounts).replace(b"16,166,", b"16,925,")
    take(content)

    again = take(content.replace(b"0900,1,", b"0901,1,") + b"\n")

    assert "statement_known" in codes(again)
    assert found() == []
