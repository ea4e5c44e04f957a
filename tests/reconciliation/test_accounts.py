from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common import crypto
from common.audits import Scope
from reconciliation import accounts, closing, day_rules, reading
from reconciliation.accounts import Opening
from reconciliation.errors import AccountRefused
from reconciliation.models import BankStatement, SettlementAccount, StatementFormat
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import book, match_all
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    NUMBER,
    OPENING,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    camt_of,
    codes,
    in_force,
    take,
)

pytestmark = pytest.mark.django_db
AGREED = Opening(
    rail=RAIL, number=NUMBER, format=StatementFormat.BAI2, opened_on=MONDAY, cents=OPENING
)


def propose(by="ann", **changes):
    return accounts.propose(replace(AGREED, **changes), reason="Their letter", by=by, now=NOW)


class TestTwoPeople:
    def test_put_an_account_in_force(self, rail):
        row = accounts.approve(propose().pk, by="bo", now=NOW)

        assert (row.status, row.decided_by, row.last4) == ("current", "bo", NUMBER[-4:])
        assert crypto.decrypt(row.number_token, context=row.encryption_context) == NUMBER
        assert NUMBER not in row.number_token + row.fingerprint

    def test_are_two(self, rail):
        row = propose()

        with pytest.raises(AccountRefused, match="somebody else"):
            accounts.approve(row.pk, by="ann", now=NOW)
        assert not accounts.has_any(RAIL)

    def test_reject_one(self, rail):
        row = propose()
        accounts.reject(row.pk, by="bo", now=NOW)

        with pytest.raises(AccountRefused, match="decided"):
            accounts.approve(row.pk, by="bo", now=NOW)
        assert not accounts.has_any(RAIL)

    def test_before_them_nothing_is_taken(self, rail):
        propose()

        assert take(bai2_of(MONDAY, 5_000)).status == "stored"


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        "changes",
        [{"number": ""}, {"number": "12-34*"}, {"number": "1" * 35}, {"cents": -1}, {"rail": "x"}],
        ids=["no number", "signs", "long", "overdrawn", "no rail"],
    )
    def test_what_no_account_can_be(self, rail, changes):
        with pytest.raises(AccountRefused):
            propose(**changes)
        assert not SettlementAccount.objects.exists()

    def test_what_waits_already(self, rail):
        propose()

        with pytest.raises(AccountRefused, match="waits"):
            propose(by="bo")


class TestANewBeginning:
    def test_counts_where_the_balance_was_wrong(self, account):
        file = take(bai2_of(MONDAY, 5_000, opening=OPENING + 7))
        assert codes(file) == ["opening_differs"]

        in_force(cents=OPENING + 7)
        take(bai2_of(MONDAY, 5_000, 1, opening=OPENING + 7))

        assert BankStatement.objects.get().opening == OPENING + 7

    def test_comes_after_the_last_statement(self, account):
        take(bai2_of(MONDAY, 5_000))

        with pytest.raises(AccountRefused, match="November 16"):
            in_force(opened_on=MONDAY)

    def test_is_not_before_the_first_day_of_the_rail(self, account):
        with pytest.raises(AccountRefused, match="November 16"):
            in_force(opened_on=MONDAY - timedelta(days=3))

    @pytest.mark.parametrize("number", [NUMBER, "0123456789"])
    def test_waits_until_the_days_before_are_closed(self, account, number):
        take(bai2_of(MONDAY))

        with pytest.raises(AccountRefused, match="not closed"):
            in_force(opened_on=TUESDAY, number=number)

    def test_waits_until_nothing_is_in_transit(self, acme, account):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)

        with pytest.raises(AccountRefused, match="1 line of the books would be in transit"):
            in_force(opened_on=TUESDAY)

    def test_waits_until_the_books_have_what_the_bank_showed(self, acme, account):
        book(acme, WEDNESDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)
        closing.close(RAIL, now=NOW)

        with pytest.raises(AccountRefused, match="in transit"):
            in_force(opened_on=TUESDAY, cents=OPENING + 5_000)

    def test_may_have_another_format(self, account):
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        other = in_force(form=StatementFormat.CAMT, opened_on=TUESDAY)

        take(camt_of(TUESDAY, 1))

        assert other.statements.get().closing == OPENING + 1

    def test_counts_from_what_was_agreed_on(self, acme, account):
        take(bai2_of(MONDAY))
        first = closing.close(RAIL, now=NOW)
        in_force(opened_on=TUESDAY, cents=OPENING + 7)
        book(acme, TUESDAY, 100)
        take(bai2_of(TUESDAY, 100, opening=OPENING + 7))
        match_all(TUESDAY)

        day = closing.close(RAIL, now=NOW)

        assert (day.ledger, day.in_transit, day.follows) == (OPENING + 107, 0, first)
        assert list(day_rules.check(Scope(full=True))) == []

    def test_may_have_another_number_whose_statement_came_first(self, account):
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        early = take(bai2_of(TUESDAY, 5, account="0123456789"))
        assert codes(early) == ["account_unknown"]

        new = in_force(opened_on=TUESDAY, number="0123456789")
        reading.read_due(now=NOW)

        assert new.statements.get().file == early

    def test_may_have_another_number_whose_statements_alone_are_read_then(self, account):
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        in_force(opened_on=TUESDAY, number="0123456789")

        assert codes(take(bai2_of(TUESDAY))) == ["account_unknown"]
        assert take(bai2_of(TUESDAY, account="0123456789")).status == "applied"
