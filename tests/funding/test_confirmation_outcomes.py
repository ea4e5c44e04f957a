"""How a question ends: by a person before its end, by the clock after it, and only once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import outcomes
from approvals.errors import ConfirmationClosed
from approvals.models import Decision
from funding.services.confirmation_outcomes import MATTER
from tests.builders import NOW, mails_of
from tests.funding.asking import BOSS, CFO, END, HOUR, decline, outcome, untouched

MOMENT = timedelta(microseconds=1)


def decide(question, decision, now):
    outcomes.decide(MATTER, question, decision, decided_by=BOSS, now=now)


@pytest.mark.parametrize(
    ("decision", "now"),
    [
        (Decision.APPROVED, END),
        (Decision.DECLINED, END),
        (Decision.EXPIRED, END - MOMENT),
    ],
)
def test_neither_people_nor_the_clock_decide_at_the_others_time(question, decision, now):
    with pytest.raises(ConfirmationClosed):
        decide(question, decision, now)

    assert untouched(question)
    assert mails_of(question.tenant, "confirmation_decided") == []


@pytest.mark.parametrize(
    ("decision", "now"),
    [
        (Decision.APPROVED, END - MOMENT),
        (Decision.DECLINED, END - MOMENT),
        (Decision.EXPIRED, END),
        (Decision.SUPERSEDED, END + HOUR),
    ],
)
def test_each_decides_at_its_own_time(question, decision, now):
    decide(question, decision, now)

    question.refresh_from_db()
    assert (question.decision, question.decided_at) == (decision, now)
    assert mails_of(question.tenant, "confirmation_decided") == [CFO]


@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.EXPIRED, Decision.SUPERSEDED])
def test_what_is_decided_is_refused_in_words_and_not_by_the_database(question, decision):
    """A caller that read the question before the other decided; its own transaction goes on."""
    decline(question)

    with pytest.raises(ConfirmationClosed):
        decide(question, decision, END if decision == Decision.EXPIRED else NOW)

    assert outcome(question)[:2] == ("declined", BOSS)
