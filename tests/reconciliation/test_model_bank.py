"""Whatever a bank shows, lines are tied with what they are of, or left to people."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from common.audits import Scope
from reconciliation import closing, day_rules, expecting, match_rules, suspense_rules
from reconciliation.errors import CloseRefused
from reconciliation.matching import running
from reconciliation.models import ExpectedLine, Match, Rule, StatementLine
from tests.builders import make_tenant
from tests.reconciliation.model_bank import (
    DAYS,
    FAULTS,
    MANNERS,
    NAMED,
    RETURNS,
    SILENT,
    Look,
    ModelBank,
    Plan,
)
from tests.reconciliation.statements import NOW, OPENING

# Few amounts, so that many sums are equal.
AMOUNTS = st.sampled_from([100, 200, 300, 700, -100, -300, -700])
BATCHES = st.tuples(st.integers(0, 1), st.lists(AMOUNTS, min_size=1, max_size=3))
PLANS = st.builds(
    Plan,
    batches=st.lists(BATCHES, min_size=1, max_size=2),
    style=st.sampled_from([*NAMED, SILENT]),
    fault=st.sampled_from([*FAULTS, "", "", ""]),
    returned=st.integers(0, 2),
)
DAY = st.sampled_from(DAYS)
BANKS = {
    "manner": st.sampled_from(MANNERS),
    "returns": st.sampled_from(RETURNS),
    "plans": st.lists(PLANS, min_size=1, max_size=4),
    "fees": st.lists(st.tuples(st.just(1_250), DAY), max_size=2),
    "unknown": st.lists(st.tuples(st.sampled_from([11_111, 22_222]), DAY), max_size=2),
}


@pytest.mark.timeout(900)  # what fails is tried again and again, ever smaller
@pytest.mark.django_db
@settings(max_examples=10, deadline=None)
@given(**BANKS)
def test_what_a_bank_shows_is_tied_with_what_it_is_of(**said):
    live(**said)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.django_db
@settings(max_examples=400, deadline=None)
@given(**BANKS)
def test_what_many_banks_show_is_tied_with_what_it_is_of(**said):
    live(**said)


def live(**said):
    """Live through it, and leave nothing to the next example."""
    before = transaction.savepoint()
    try:
        _live(**said)
    finally:
        transaction.savepoint_rollback(before)


def _live(*, manner, returns, plans, fees, unknown):
    bank = ModelBank(make_tenant(), manner=manner, returns=returns)
    for plan in plans:
        bank.send(plan)
    for amount, day in fees:
        bank.charge(amount, day)
    for amount, day in unknown:
        bank.receive(amount, day)
    bank.state()

    running.run(bank.rail.pk, now=NOW)

    assert running.run(bank.rail.pk, now=NOW) == {}
    assert_tied_rightly(bank)
    assert_closed_as_the_model_says(bank)
    checks = (match_rules.check, day_rules.check, suspense_rules.check)
    assert [str(found) for check in checks for found in check(Scope(full=True))] == []


def assert_tied_rightly(bank):
    """A match by name has groups of the bank whole, with the lines that the bank shows of them. One
    by a total of a day has lines of that day that the bank names nowhere: which of equal sums it
    was, nobody can tell. And what anybody can tell is tied, but for lines of one file of ours that
    undo each other: its other lines are right without them."""
    tied: set[int] = set()
    for match in Match.objects.filter(rail=bank.rail):
        rows = StatementLine.objects.filter(matched__match=match).select_related("statement")
        looks = Counter(map(bank.look_of, rows))
        of_books = dict(match.of_books.values_list("line", "step"))
        assert sum(look.amount for look in looks.elements()) == match.amount
        if set(of_books.values()) <= {str(step) for step in expecting.OWN_STEPS}:
            (look,) = looks
            assert look in bank.own, f"{look} is of ours, and was booked"
            continue
        groups = [group for group in bank.groups if group.lines & of_books.keys()]
        if {look.name for look in looks} == {""}:
            assert_total(match, looks, groups)
            continue
        whole = frozenset().union(*(group.lines for group in groups))
        assert whole == of_books.keys(), f"{match.rule} ties a part of what the bank added up"
        shown: Counter[Look] = sum((group.looks for group in groups), Counter())
        assert moves_nothing(looks - shown), f"{match.rule} ties {looks - shown} of something else"
        tied |= whole
    left: Counter[str] = Counter()
    for group in bank.groups:
        if group.is_certain and not group.lines <= tied:
            for look in group.looks:
                left[look.name] += look.amount
    assert set(left.values()) <= {0}, f"{left} is left"


def assert_total(match, looks, groups):
    """A total without a name has no line that the bank names, and none of another day or kind."""
    named = [look for group in groups for look in group.looks if look.name]
    assert named == [], f"{match.rule} ties what {named} name"
    kind = "return" if match.rule == Rule.RETURNS else "settlement"
    assert {(look.day, look.kind) for look in looks} == {(match.day, kind)}
    assert set(match.of_books.values_list("counts_on", flat=True)) == {match.day}


def moves_nothing(more):
    """Whether lines that a match has too many name one thing of ours, and undo each other there.
    Nobody can tell which of the lines that name it they belong to."""
    names = {look.name for look in more}
    return not more or ("" not in names and not sum(look.amount for look in more.elements()))


def assert_closed_as_the_model_says(bank):
    """A day closes iff all that the bank posted up to it is tied. Then books, bank and what is in
    transit are what the model comes to."""
    free = StatementLine.objects.filter(statement__account=bank.account, matched=None)
    open_days = set(free.exclude(amount=0).values_list("statement__last_day", flat=True))
    counted = dict(ExpectedLine.objects.filter(rail=bank.rail).values_list("line", "counts_on"))
    cents = dict(ExpectedLine.objects.filter(rail=bank.rail).values_list("line", "amount"))
    shown = dict(ExpectedLine.objects.filter(rail=bank.rail).values_list("line", "match__day"))
    for day in DAYS:
        if any(each <= day for each in open_days):
            with pytest.raises(CloseRefused, match="Nothing explains"):
                closing.close(bank.rail.pk, now=NOW)
            return
        closed = closing.close(bank.rail.pk, now=NOW)
        posted = sum(look.amount for look in bank.posted().elements() if look.day <= day)
        transit = {
            line: cents[line] if counted[line] <= day else -cents[line]
            for line in cents
            if (counted[line] <= day) != bool(shown[line] and shown[line] <= day)
        }
        assert closed.bank == OPENING + posted
        assert closed.ledger == OPENING + sum(
            amount for line, amount in cents.items() if counted[line] <= day
        )
        assert dict(closed.lines_in_transit.values_list("line", "amount")) == transit
