from __future__ import annotations

from typing import Any

import pytest

from reconciliation import by_hand, expecting
from reconciliation.errors import MatchRefused
from reconciliation.matching.tying import tie
from reconciliation.models import BankStatement, ExpectedLine, Match, MatchedLine, Rule
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY, bai2_of, take
from tests.reconciliation.test_expecting import close
from tests.reconciliation.transfers import bank_lines, batch_of, settled

pytestmark = pytest.mark.django_db
WHY = "Rosa of the bank says so"


@pytest.fixture
def books(rail, account, acme):
    """The ids of two lines of the books, of 3,000 and 2,000 cents."""
    settled(acme, batch_of(rail), 3_000, 2_000)
    expecting.take(RAIL, now=NOW)
    return list(ExpectedLine.objects.order_by("line").values_list("line", flat=True))


@pytest.fixture
def bank(account):
    """The ids of the lines of Monday's statement: 5,000, 2,000 and -2,000 cents."""
    take(bai2_of(MONDAY, 5_000, 2_000, -2_000))
    return bank_lines()


def match(bank, books, **changes):
    values: dict[str, Any] = {"rail": RAIL, "day": MONDAY, "reason": WHY, "by": "ann", "now": NOW}
    return by_hand.match(bank, books, **values | changes)


def free_ones():
    return ExpectedLine.objects.filter(match=None).count()


class TestMatch:
    def test_ties_lines_of_the_same_sum(self, bank, books):
        made = match(bank[:1], books)

        assert (made.rule, made.day, made.amount) == (Rule.PERSON, MONDAY, 5_000)
        assert (made.statement_lines, made.expected_lines) == (1, 2)
        assert (made.made_by, made.reason, made.made_at) == ("ann", WHY, NOW)
        assert set(ExpectedLine.objects.values_list("match", flat=True)) == {made.pk}
        assert list(MatchedLine.objects.values_list("line", "match")) == [(bank[0], made.pk)]

    def test_refuses_lines_of_the_bank_that_undo_each_other(self, bank, books):
        """By themselves, or beside what the books know: one person would explain a theft."""
        with pytest.raises(MatchRefused, match="one of the books"):
            match(bank[1:], [])
        with pytest.raises(MatchRefused, match="two people clear them"):
            match(bank, books)

        assert (Match.objects.count(), free_ones()) == (0, 2)

    @pytest.mark.parametrize(
        ("taken", "changes", "words"),
        [
            (([0], [0]), {}, "different sums"),
            (([], [0, 1]), {}, "at least one line of the statement"),
            (([0], []), {}, "one of the books"),
            (([0], [0, 1]), {"reason": "  "}, "A reason of 1 to 300"),
            (([0], [0, 1]), {"reason": "x" * 301}, "A reason of 1 to 300"),
            (([0], [0, 1]), {"day": TUESDAY}, "another rail or statement"),
            (([0], [0, 1]), {"rail": "nowhere"}, "before the account's first one"),
        ],
        ids=["sums", "nothing", "no books", "no reason", "long reason", "other day", "no account"],
    )
    def test_refuses(self, bank, books, taken, changes, words):
        of_bank, of_books = taken

        with pytest.raises(MatchRefused, match=words):
            match([bank[n] for n in of_bank], [books[n] for n in of_books], **changes)

        assert (Match.objects.count(), free_ones()) == (0, 2)

    def test_refuses_a_line_that_is_matched(self, bank, books):
        match(bank[1:2], books[1:])

        with pytest.raises(MatchRefused, match="matched already"):
            match(bank[:1], books)

    def test_refuses_a_line_of_nothing(self, rail, account, acme):
        """Two transfers that cancel out are two, and the bank shows neither of them."""
        settled(acme, batch_of(rail), 700, -700)
        expecting.take(RAIL, now=NOW)
        take(bai2_of(MONDAY, 0))

        with pytest.raises(MatchRefused, match="moves no money"):
            match(bank_lines(), ExpectedLine.objects.values_list("line", flat=True))

        assert (Match.objects.count(), free_ones()) == (0, 2)

    def test_refuses_a_line_that_does_not_exist(self, bank, books):
        with pytest.raises(MatchRefused, match="matched already"):
            match([*bank[:1], 999_999], books)

    def test_refuses_lines_of_another_rail(self, bank, books, acme):
        builders.make_rail("other")

        with pytest.raises(MatchRefused):
            match(bank[:1], books, rail="other")

    def test_refuses_a_closed_day(self, bank, books):
        close(BankStatement.objects.get())

        with pytest.raises(MatchRefused, match="closed"):
            match(bank[:1], books)

    def test_refuses_lines_of_two_statements(self, bank, books):
        take(bai2_of(TUESDAY, 1_000, opening=OPENING + 5_000))

        with pytest.raises(MatchRefused, match="rail or statement"):
            match([bank[0], *bank_lines(TUESDAY)], books)


def test_nothing_makes_no_match(account):
    with pytest.raises(MatchRefused, match="Choose the lines"):
        tie([], [], rail=RAIL, rule=Rule.CLEARED, day=MONDAY, now=NOW)


class TestTakeApart:
    def unmatched(self, made, **changes):
        values: dict[str, Any] = {"reason": "It was another one", "by": "bo", "now": NOW}
        return by_hand.unmatch(made.pk, **values | changes)

    def test_sets_the_lines_free(self, bank, books):
        made = match(bank[:1], books)

        gone = self.unmatched(made)

        assert (gone.voided_at, gone.voided_by, gone.voided_why) == (
            NOW, "bo", "It was another one",
        )  # fmt: skip
        assert (free_ones(), MatchedLine.objects.get().match) == (2, None)

    def test_lets_the_lines_be_matched_anew(self, bank, books):
        self.unmatched(match(bank[:1], books))

        assert match(bank[:1], books).of_bank.get().line_id == bank[0]

    def test_refuses_what_was_unmatched(self, bank, books):
        made = match(bank[:1], books)
        self.unmatched(made)

        with pytest.raises(MatchRefused, match="already"):
            self.unmatched(made)

    def test_refuses_a_closed_day(self, bank, books):
        made = match(bank[:1], books)
        close(BankStatement.objects.get())

        with pytest.raises(MatchRefused, match="stays as it is"):
            self.unmatched(made)

    def test_refuses_what_the_books_have_from_the_bank(self, bank, books):
        made = tie(bank[:1], books, rail=RAIL, rule=Rule.BOOKED, day=MONDAY, now=NOW)

        with pytest.raises(MatchRefused, match="clear it from suspense"):
            self.unmatched(made)

    @pytest.mark.parametrize("match_id", ["mat_nothing", "mat_\0"], ids=["unknown", "zero byte"])
    def test_refuses_what_is_no_match(self, account, match_id):
        with pytest.raises(MatchRefused, match="no such match"):
            by_hand.unmatch(match_id, reason=WHY, by="bo", now=NOW)
