"""A return that our bank does not accept: whose money it is, and when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from balance import invariants
from balance import services as ledger
from balance.models import BalanceTransaction, OperatorLine
from balance.operator.totals import totals
from common import database_clock
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.models import DepositEntry
from funding.services import deposits
from networks.base import EventKind as K
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.balance.builders import balance_of
from tests.builders import NOW, make_source
from tests.corruption import found, tamper
from tests.database import owner
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import dishonors, submission
from transfers.dishonors import SOURCE_TYPE
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent, ReturnDishonor

pytestmark = pytest.mark.django_db

CODES = {K.RETURNED: "R01", K.RETURN_DISHONORED: "R68", K.RETURN_CONTESTED: "R73"}
# A Friday. The other bank may contest until Tuesday; Wednesday's opening is 8:30 Eastern.
DISHONORED_ON, CONTESTED_ON = date(2026, 11, 20), date(2026, 11, 24)
OVER = datetime(2026, 11, 25, 13, 30, tzinfo=UTC)
AMOUNT = 10_000
# What the bank of these tests, which says what the test wants, has not in its own books.
UNTOLD = {"funding_bank", "payment_bank"}


def hear(transfer, row, kind, *, day=None, number=1):
    """Its network says it, and it is applied."""
    said = message(row, kind, id=f"{kind}-{number}", code=CODES.get(kind, ""), settlement_date=day)
    arrivals.collect(network=ScriptedNetwork(said), id_prefix=transfer.id_prefix, now=NOW)
    messages.apply_new(transfer, now=NOW)


def count(now):
    with database_clock.at(now):
        return dishonors.count_due(now=now)


def held():
    """What is in each account of the operator, in cents: its debits less its credits."""
    return {
        total.name: total.debit - total.credit
        for total in totals()
        if total.debit != total.credit and total.account != "suspense"
    }


def lines():
    """The operator's lines and the tenant's of dishonored returns."""
    steps = OperatorLine.objects.filter(source_type=SOURCE_TYPE).order_by("pk")
    posted = BalanceTransaction.objects.filter(source_type=SOURCE_TYPE).order_by("sequence")
    return list(steps.values_list("step", flat=True)), list(posted.values_list("type", flat=True))


class Returned:
    """A transfer of 100 dollars that came back."""

    def __init__(self, tenant, direction):
        self.money = DIRECTIONS[direction]
        self.tenant = tenant
        self.row = self.money.make(tenant, amount=AMOUNT)
        submission.submit_due(self.money.transfer, now=NOW)
        self.hear(K.RETURNED, day=date(2026, 11, 18))
        self.had = self.available()

    def hear(self, kind, **said):
        hear(self.money.transfer, self.row, kind, **said)

    def available(self):
        return balance_of(self.tenant)[0]

    def moved(self):
        """What it did to the balance since, in cents."""
        return self.available() - self.had

    def status(self):
        self.row.refresh_from_db()
        return self.row.status, self.row.returned


@pytest.fixture
def back_in(acme):
    return Returned(acme, "in")


@pytest.fixture
def back_out(acme):
    return Returned(acme, "out")


@pytest.fixture(params=DIRECTIONS)
def back(acme, request):
    return Returned(acme, request.param)


@pytest.fixture
def books_fit(db):
    yield
    report = invariants.check(now=NOW, full=True)
    assert {finding.code for finding in report.findings} <= UNTOLD


@pytest.mark.usefixtures("books_fit")
class TestMoneyIn:
    def test_is_ours_at_once_and_the_tenants_once_nobody_may_contest(self, back_in):
        back_in.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)

        assert held() == {"settlement:sandbox": AMOUNT, "returns_receivable": -AMOUNT}
        assert count(OVER - timedelta(seconds=1)) == 0
        assert back_in.moved() == 0
        assert count(OVER) == 1
        assert back_in.moved() == AMOUNT
        assert held() == {"settlement:sandbox": AMOUNT, "bank_clearing": -AMOUNT}
        assert lines() == (["in_dishonored", "in_credited_again"], ["credit"])
        assert count(OVER + timedelta(days=1)) == 0

    def test_leaves_again_if_the_other_bank_contests(self, back_in):
        back_in.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        back_in.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        assert count(OVER) == 0
        assert (back_in.moved(), held()) == (0, {})
        assert lines() == (["in_dishonored", "in_contested"], [])

    def test_is_debited_again_if_that_comes_too_late(self, back_in):
        back_in.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        count(OVER)
        back_in.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        assert (back_in.moved(), held()) == (0, {})
        posted = BalanceTransaction.objects.filter(source_type=SOURCE_TYPE).order_by("sequence")
        assert list(posted.values_list("type", "description")) == [
            ("credit", f"The return of {back_in.row.pk} was not accepted: its money came again"),
            ("debit", f"The return of {back_in.row.pk} stands after all: its money left again"),
        ]

    def test_is_debited_even_if_the_tenant_has_spent_it(self, acme, back_in):
        back_in.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        count(OVER)
        ledger.adjust(
            tenant_id=acme.pk,
            type="debit",
            amount=AMOUNT,
            reason="Spent",
            actor=SYSTEM,
            now=NOW,
        )
        back_in.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        assert back_in.available() == -AMOUNT

    def test_of_a_bank_that_names_no_day_waits_from_when_it_was_said(self, back_in):
        back_in.hear(K.RETURN_DISHONORED)

        assert ReturnDishonor.objects.get().due_at == OVER

    def test_that_was_complete_before_is_credited_once_more(self, acme):
        row = DIRECTIONS["in"].make(acme, amount=AMOUNT)
        transfer = DIRECTIONS["in"].transfer
        submission.submit_due(transfer, now=NOW)
        for kind in (K.FINAL, K.RETURNED, K.RETURN_DISHONORED):
            hear(transfer, row, kind, day=DISHONORED_ON)
        assert balance_of(acme)[0] == 0

        count(OVER)

        assert balance_of(acme)[0] == AMOUNT


@pytest.mark.usefixtures("books_fit")
class TestMoneyOut:
    def test_has_left_again_so_it_is_debited_at_once(self, back_out):
        back_out.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)

        assert back_out.moved() == -AMOUNT
        assert (
            held()
            == {
                "settlement:sandbox": -AMOUNT,
                "bank_clearing": AMOUNT - back_out.had,
            }
            or held()["settlement:sandbox"] == -AMOUNT
        )
        assert lines() == (["out_dishonored", "out_charged_again"], ["debit"])
        assert count(OVER) == 0

    def test_comes_back_again_if_the_other_bank_contests(self, back_out):
        back_out.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        back_out.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        assert back_out.moved() == 0
        assert "settlement:sandbox" not in held()
        assert lines() == (
            ["out_dishonored", "out_charged_again", "out_contested", "out_given_back_again"],
            ["debit", "credit"],
        )


@pytest.mark.usefixtures("books_fit")
class TestWhateverComes:
    def test_the_transfer_stays_as_its_return_left_it(self, back):
        was = back.status()
        back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        count(OVER)

        assert back.status() == was
        assert was[1]

    def test_a_contest_that_comes_first_waits_for_its_dishonor(self, back):
        back.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)
        assert lines() == ([], [])

        back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)

        steps, posted = lines()
        assert [step.split("_")[1] for step in steps] == ["dishonored", "contested"]
        assert (posted, count(OVER), back.moved()) == ([], 0, 0)

    def test_what_is_told_twice_counts_once(self, back):
        for number in (1, 1, 2):
            back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON, number=number)
        count(OVER)

        assert abs(back.moved()) == AMOUNT
        for number in (1, 1):
            back.hear(K.RETURN_CONTESTED, day=CONTESTED_ON, number=number)
        assert back.moved() == 0
        assert ReturnDishonor.objects.count() == 1

    def test_a_corrected_return_may_be_dishonored_too(self, back):
        for number in (1, 2):
            back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON, number=number)
            if number == 1:
                back.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)
        count(OVER)

        assert abs(back.moved()) == AMOUNT
        assert [bool(each.contested) for each in dishonors.of_transfer(back.row.pk)] == [
            True,
            False,
        ]

    def test_what_was_never_returned_has_no_money_to_come(self, acme):
        money = DIRECTIONS["in"]
        row = money.make(acme, amount=AMOUNT)
        submission.submit_due(money.transfer, now=NOW)
        hear(money.transfer, row, K.REJECTED)
        hear(money.transfer, row, K.RETURN_DISHONORED, day=DISHONORED_ON)

        assert InboundEvent.objects.get(kind=K.RETURN_DISHONORED).outcome == "applied"
        assert not ReturnDishonor.objects.exists()

    def test_the_bank_lines_have_the_banks_days(self, back):
        back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        back.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        of_bank = OperatorLine.objects.filter(
            source_type=SOURCE_TYPE, step__regex="(dishonored|contested)$"
        ).order_by("pk")
        assert list(of_bank.values_list("day", flat=True)) == [DISHONORED_ON, CONTESTED_ON]
        assert set(of_bank.values_list("rail", flat=True)) == {"sandbox"}

    def test_the_tenants_audit_log_says_what_moved(self, acme, back):
        back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        count(OVER)
        back.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        told = AuditEvent.objects.filter(tenant=acme, action__startswith="return_dishonor.")
        assert set(told.values_list("action", "subject_id")) == {
            ("return_dishonor.counted", back.row.pk),
            ("return_dishonor.contested", back.row.pk),
        }


def test_micro_deposits_are_explained_by_hand(acme):
    make_source(acme, account_number="50001")
    deposits.store_due(now=NOW)
    submission.submit_due(DEPOSIT_ENTRIES, now=NOW)
    entry = DepositEntry.objects.order_by("part").first()
    hear(DEPOSIT_ENTRIES, entry, K.RETURNED, day=DISHONORED_ON)
    before = held()
    hear(DEPOSIT_ENTRIES, entry, K.RETURN_DISHONORED, day=DISHONORED_ON)

    assert InboundEvent.objects.get(kind=K.RETURN_DISHONORED).outcome == "applied"
    assert (held(), ReturnDishonor.objects.exists()) == (before, False)


class TestTheRow:
    @pytest.mark.parametrize(
        "change",
        [
            "amount = amount + 1",
            "counted_at = now()",
            "dishonored_id = NULL",
            "contested_id = NULL",
        ],
    )
    def test_is_not_rewritten(self, back_in, change):
        back_in.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
        count(OVER)
        back_in.hear(K.RETURN_CONTESTED, day=CONTESTED_ON)

        with (
            pytest.raises(DatabaseError, match="pgtrigger"),
            transaction.atomic(),
            owner.as_owner(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE network_inbox_returndishonor SET {change}")


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        ("DELETE FROM network_inbox_returndishonor", {"return_dishonor_missing", "books_source"}),
        ("UPDATE network_inbox_returndishonor SET amount = amount + 1", {"{noun}_dishonored"}),
        (
            "UPDATE network_inbox_returndishonor SET counted_at = NULL, due_at = now()",
            {"{noun}_dishonored"},
        ),
        (
            "UPDATE network_inbox_inboundevent SET amount = amount + 1"
            " WHERE kind = 'return_dishonored'",
            {"{noun}_dishonored", "{noun}_messages"},
        ),
        (
            "UPDATE network_inbox_inboundevent SET kind = 'accepted'"
            " WHERE kind = 'return_dishonored'",
            {"{noun}_dishonored"},
        ),
        (
            "DELETE FROM balance_operator_line WHERE step LIKE '%_dishonored'",
            {"{noun}_dishonored"},
        ),
        (
            "DELETE FROM balance_operator_line WHERE step LIKE '%_again'",
            {"{noun}_dishonored", "books_clearing"},
        ),
    ],
)
def test_damage_is_named(back, damage, codes):
    back.hear(K.RETURN_DISHONORED, day=DISHONORED_ON)
    count(OVER)
    assert found(full=True) <= UNTOLD

    tamper(damage)

    noun = back.money.transfer.noun
    assert found(full=True) - UNTOLD == {code.format(noun=noun) for code in codes}
