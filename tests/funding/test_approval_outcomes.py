"""How an approval ends: by a person before its end, by the clock after it, and only once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import outcomes
from approvals.errors import ApprovalClosed
from approvals.models import ApprovalStatus
from funding.services.approval_policy import POLICY
from tests.builders import NOW, mails_of
from tests.funding.asking import BOSS, CFO, END, HOUR, decline, outcome, untouched

MOMENT = timedelta(microseconds=1)


def decide(approval, decision, now):
    outcomes.close(POLICY, approval, decision, decided_by=BOSS, now=now)


@pytest.mark.parametrize(
    ("decision", "now"),
    [
        (ApprovalStatus.APPROVED, END),
        (ApprovalStatus.DECLINED, END),
        (ApprovalStatus.EXPIRED, END - MOMENT),
    ],
)
def test_neither_people_nor_the_clock_decide_at_the_others_time(approval, decision, now):
    with pytest.raises(ApprovalClosed):
        decide(approval, decision, now)

    assert untouched(approval)
    assert mails_of(approval.tenant, "confirmation_decided") == []


@pytest.mark.parametrize(
    ("decision", "now"),
    [
        (ApprovalStatus.APPROVED, END - MOMENT),
        (ApprovalStatus.DECLINED, END - MOMENT),
        (ApprovalStatus.EXPIRED, END),
        (ApprovalStatus.SUPERSEDED, END + HOUR),
    ],
)
def test_each_decides_at_its_own_time(approval, decision, now):
    decide(approval, decision, now)

    approval.refresh_from_db()
    assert (approval.decision, approval.decided_at) == (decision, now)
    assert mails_of(approval.tenant, "confirmation_decided") == [CFO]


@pytest.mark.parametrize(
    "decision", [ApprovalStatus.APPROVED, ApprovalStatus.EXPIRED, ApprovalStatus.SUPERSEDED]
)
def test_what_is_decided_is_refused_in_words_and_not_by_the_database(approval, decision):
    """A caller that read the approval before the other decided; its own transaction goes on."""
    decline(approval)

    with pytest.raises(ApprovalClosed):
        decide(approval, decision, END if decision == ApprovalStatus.EXPIRED else NOW)

    assert outcome(approval)[:2] == ("declined", BOSS)
