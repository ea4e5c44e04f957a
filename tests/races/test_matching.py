"""Lines that are matched, booked, cleared and proven by several at once."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from common.audits import Scope
from networks.ach import references
from reconciliation import (
    booking,
    by_hand,
    clearing,
    closing,
    day_rules,
    expecting,
    match_rules,
    proving,
    suspense_rules,
)
from reconciliation.errors import BookingRefused, ClearingRefused, CloseRefused, MatchRefused
from reconciliation.matching import running
from reconciliation.models import (
    BookedLine,
    ClearingKind,
    ClosedDay,
    ExpectedLine,
    Match,
    MatchedLine,
    Rule,
    StatementLine,
)
from solvency.models import ProofReport
from tests.builders import make_tenant
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.races.together import rounds, together
from tests.reconciliation.banking import Posted, state
from tests.reconciliation.books import balances
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY, in_force
from tests.reconciliation.transfers import batch_of, settled

WORKERS = 6
WHY = "The bank said so"
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def rail():
    made = make_rail()
    in_force()
    return made


@pytest.fixture
def batch(rail):
    """Of 5,000 cents in, which settle on Monday."""
    made = batch_of(rail)
    settled(make_tenant(), made, 3_000, 2_000)
    return made


def run():
    return dict(running.run(RAIL, now=NOW))


def kinds(outcomes):
    """How many were refused, and how many were not."""
    return Counter(type(each) if isinstance(each, Exception) else bool for each in outcomes)


def sound():
    checks = (day_rules.check, match_rules.check, suspense_rules.check)
    return [found for check in checks for found in check(Scope(full=True))] == []


@rounds(4)
def test_two_runs_match_each_line_once(round_, batch):
    state(
        Posted(5_000, references.of_batch(batch)), Posted(77, kind="credit"), Posted(-9, kind="fee")
    )

    told = race(lambda _: run())

    assert sum((Counter(each) for each in told), Counter()) == {Rule.FILE: 1, Rule.BOOKED: 2}
    assert Counter(Match.objects.values_list("rule", flat=True)) == {"file": 1, "booked": 2}
    assert ExpectedLine.objects.filter(match=None).count() == 0
    assert BookedLine.objects.count() == 2
    assert sound()


@rounds(6)
def test_a_line_is_matched_by_a_rule_or_by_a_person(round_, batch):
    """Never by both, and who was second is told."""
    (line,) = state(Posted(5_000, references.of_batch(batch)))
    expecting.take(RAIL, now=NOW)
    books = list(ExpectedLine.objects.values_list("line", flat=True))

    def act(worker):
        if worker % 2:
            return run().get(Rule.FILE, 0)
        who = {"by": f"ann{worker}", "reason": WHY}
        return by_hand.match([line], books, rail=RAIL, day=MONDAY, now=NOW, **who)

    told = race(act)

    made = Match.objects.get()
    assert MatchedLine.objects.get().match == made
    by_people = [each for each in told[::2] if not isinstance(each, MatchRefused)]
    assert (len(by_people), sum(told[1::2])) == ((1, 0) if made.rule == Rule.PERSON else (0, 1))
    assert sound()


@rounds(6)
def test_a_match_is_unmatched_once_and_no_rule_makes_it_again(round_, batch):
    state(Posted(5_000, references.of_batch(batch)))
    run()
    made = Match.objects.get()

    def act(worker):
        if worker % 2:
            return run() == {}
        return by_hand.unmatch(made.pk, reason=WHY, by=f"ann{worker}", now=NOW)

    told = race(act)

    assert kinds(told[::2]) == {bool: 1, MatchRefused: WORKERS // 2 - 1}
    assert set(told[1::2]) == {True}
    assert list(Match.objects.values_list("voided_by", flat=True)) != [""]
    assert ExpectedLine.objects.filter(match=None).count() == 2
    assert sound()


@rounds(6)
def test_a_day_closes_with_a_line_that_waits_once_it_is_booked(round_):
    """Whoever closes it before is told that nothing explains the line."""
    state(Posted(-70, kind="return"))
    line = StatementLine.objects.get()

    def act(worker):
        if worker % 2:
            return closing.close(RAIL, now=NOW)
        return booking.to_suspense(line, by=f"ann{worker}", reason=WHY, now=NOW)

    told = race(act)

    assert kinds(told[::2]) == {bool: 1, BookingRefused: WORKERS // 2 - 1}
    refused = [each for each in told[1::2] if isinstance(each, CloseRefused)]
    if not ClosedDay.objects.exists():
        assert len(refused) == WORKERS // 2
        assert all("Nothing explains 1 line" in str(each.reasons) for each in refused)
        closing.close(RAIL, now=NOW)
    day = ClosedDay.objects.get()
    assert (day.ledger, day.bank, day.in_transit) == (OPENING - 70, OPENING - 70, 0)
    assert sound()


@rounds(6)
def test_a_clearing_is_approved_or_rejected_once(round_):
    state(Posted(900, kind="credit"))
    run()
    booked = BookedLine.objects.get()
    row = clearing.propose(booked, ClearingKind.INCOME, reason=WHY, by="ann", now=NOW)

    def act(worker):
        by = f"bo{worker}"
        if worker % 2:
            return clearing.reject(row.pk, refusal=WHY, by=by, now=NOW)
        return clearing.approve(row.pk, by=by, now=NOW)

    told = race(act)

    assert kinds(told) == {bool: 1, ClearingRefused: WORKERS - 1}
    (decided,) = [each for each in told if not isinstance(each, Exception)]
    row.refresh_from_db()
    assert (row.status, row.decided_by) == (decided.status, decided.decided_by)
    is_approved = row.status == "approved"
    assert balances().get("revenue", 0) == (-900 if is_approved else 0)
    assert balances()["suspense"] == (0 if is_approved else -900)
    assert sound()


@rounds(6)
def test_two_lines_that_undo_each_other_are_cleared_once(round_):
    """Each is proposed as the other one of the other."""
    state(Posted(900, kind="credit"), Posted(-900, kind="return"))
    run()
    waits = StatementLine.objects.get(kind="return")
    booking.to_suspense(waits, by="ann", reason=WHY, now=NOW)
    pair = list(BookedLine.objects.order_by("line_id"))

    def act(worker):
        one, other = pair if worker % 2 else reversed(pair)
        return clearing.propose(
            one, ClearingKind.OFFSET, other=other, reason=WHY, by=f"ann{worker}", now=NOW
        )

    told = race(act)

    assert kinds(told) == {bool: 1, ClearingRefused: WORKERS - 1}


@rounds(6)
def test_a_day_is_proven_once(round_):
    state()
    closing.close(RAIL, now=NOW)

    told = race(lambda _: proving.prove_due(now=NOW))

    assert [each for each in told if isinstance(each, Exception)] == []
    assert [each for each in told if each] == [ProofReport.objects.get()]


@rounds(6)
def test_a_day_is_proven_while_others_match_and_close(round_, batch):
    """What is proven is of one moment: a difference of zero, or it is proven later."""
    state()
    closing.close(RAIL, now=NOW)
    state(Posted(5_000, references.of_batch(batch)), day=TUESDAY)

    def act(worker):
        if worker == 0:
            return proving.prove_due(now=NOW)
        run()
        return closing.close_all(RAIL, now=NOW)

    told = race(act)

    assert [each for each in told if isinstance(each, Exception)] == []
    assert {str(day) for day in ClosedDay.objects.values_list("day", flat=True)} == {
        str(MONDAY), str(TUESDAY),
    }  # fmt: skip
    assert ProofReport.objects.count() == bool(told[0])
    assert sound()
