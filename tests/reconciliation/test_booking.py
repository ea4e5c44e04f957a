"""Lines that the books learn of by a bank statement."""

from __future__ import annotations

import pytest

from balance.models import OperatorLine
from reconciliation import booking, closing
from reconciliation.errors import BookingRefused
from reconciliation.models import BookedLine, ExpectedLine, Match, StatementLine
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import balances
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY, of_kinds, take

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "amount", "steps", "books"),
    [
        ("fee", -250, ["fee_charged"], {"bank_fees": 250, f"settlement:{RAIL}": -250}),
        ("fee", 250, ["fee_refunded"], {"bank_fees": -250, f"settlement:{RAIL}": 250}),
        ("credit", 900, ["suspense_credited"], {"suspense": -900, f"settlement:{RAIL}": 900}),
        ("debit", -900, ["suspense_debited"], {"suspense": 900, f"settlement:{RAIL}": -900}),
        ("interest", 7, ["suspense_credited"], {"suspense": -7, f"settlement:{RAIL}": 7}),
        ("unknown", 7, ["suspense_credited"], {"suspense": -7, f"settlement:{RAIL}": 7}),
        ("batch", 7, [], {}),
        ("return", -7, [], {}),
        ("reversal", -7, [], {}),
    ],
)
def test_by_its_kind_a_line_is_booked_or_waits(account, kind, amount, steps, books):
    take(of_kinds(MONDAY, (kind, amount)))

    booking.book_open(RAIL, None, now=NOW)

    assert StatementLine.objects.get().kind == kind
    assert list(OperatorLine.objects.values_list("step", flat=True)) == steps
    assert balances() == books


class TestABookedLine:
    def test_is_expected_and_matched_at_once(self, account):
        take(of_kinds(MONDAY, ("fee", -250)))

        assert booking.book_open(RAIL, None, now=NOW) == 1

        booked, match = BookedLine.objects.get(), Match.objects.get()
        line = OperatorLine.objects.get(source_type="booked_line", source_id=booked.pk)
        assert (booked.booked_as, booked.amount, booked.booked_by) == ("fee", -250, "")
        assert line.tenant_id is None
        assert (line.day, line.rail) == (MONDAY, RAIL)
        expected = ExpectedLine.objects.get()
        assert (expected.line, expected.amount, expected.counts_on) == (line.pk, -250, MONDAY)
        assert (match.rule, match.day, match.amount) == ("booked", MONDAY, -250)
        assert booked.line.matched.match == expected.match == match

    def test_is_booked_once(self, account):
        take(of_kinds(MONDAY, ("fee", -250)))

        assert [booking.book_open(RAIL, None, now=NOW) for _ in range(2)] == [1, 0]
        assert OperatorLine.objects.count() == 1

    def test_lets_the_day_close(self, account):
        take(of_kinds(MONDAY, ("fee", -250), ("credit", 900)))
        booking.book_open(RAIL, None, now=NOW)

        assert closing.close(RAIL, now=NOW).ledger == OPENING + 650

    def test_is_of_the_statement_that_was_asked_for(self, account):
        take(of_kinds(MONDAY, ("fee", -250)))
        first = account.statements.get()
        take(of_kinds(TUESDAY, ("fee", -1), opening=OPENING - 250))

        assert booking.book_open(RAIL, first, now=NOW) == 1
        assert BookedLine.objects.get().amount == -250


class TestByAPerson:
    def test_a_line_that_waits_goes_to_suspense_with_a_reason(self, account):
        take(of_kinds(MONDAY, ("return", -70)))

        booked = booking.to_suspense(
            StatementLine.objects.get(),
            by="ann",
            reason=" Not of our entries ",
            now=NOW,
        )

        assert (booked.booked_by, booked.reason) == ("ann", "Not of our entries")
        assert (Match.objects.get().made_by, balances()["suspense"]) == ("ann", 70)

    def test_says_why(self, account):
        take(of_kinds(MONDAY, ("return", -70)))

        with pytest.raises(BookingRefused, match="reason"):
            booking.to_suspense(StatementLine.objects.get(), by="ann", reason=" ", now=NOW)
        assert not BookedLine.objects.exists()

    def test_not_a_line_that_is_matched(self, account):
        take(of_kinds(MONDAY, ("fee", -70)))
        booking.book_open(RAIL, None, now=NOW)

        with pytest.raises(BookingRefused, match="matched already"):
            booking.to_suspense(StatementLine.objects.get(), by="ann", reason="A fee", now=NOW)
        assert OperatorLine.objects.count() == 1
