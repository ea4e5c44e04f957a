"""Bank statements at the desk in a real browser: how their pages look."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from desk import doers
from desk.statements import acts
from networks.ach.models import AchProposal
from reconciliation.models import BankStatement
from tenants import actors
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import sam, wrong_of
from tests.builders import make_staff
from tests.desk.ach import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.statements import MONDAY, OPENING, TUESDAY, WEDNESDAY, bai2_of

__all__ = ["sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
LIST = "/admin/desk/statements/"


@pytest.fixture
def taken(transactional_db):
    """A statement of sixty lines, and a later one that is set aside because a day is missing."""
    make_rail()
    statements.in_force(rail=RAIL)
    amounts = [(1_234_567 if place % 3 else -98_700) * place for place in range(1, 61)]
    statements.take(bai2_of(MONDAY, *amounts), rail=RAIL)
    opening = OPENING + sum(amounts) + 5
    statements.take(bai2_of(WEDNESDAY, 100_00, opening=opening), rail=RAIL, name="wednesday.txt")
    return BankStatement.objects.get()


@pytest.fixture
def uploaded(taken):
    """Tuesday's, by somebody else: it waits for a second person."""
    content = [bai2_of(TUESDAY, 5_00, opening=taken.closing)]
    doer = doers.person(actors.staff(make_staff("kim@ballast.example").pk))
    acts.upload(
        rail=RAIL,
        name="tuesday.txt",
        content=content,
        reason="The bank's folder was empty this morning",
        doer=doer,
        now=utc_now(),
    )
    return AchProposal.objects.get()


@in_every_look
def test_nothing_is_wrong_with_statements(visit, sam, taken, uploaded, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    decide = f"/admin/desk/proposals/{uploaded.pk}/"
    paths = (LIST, f"{LIST}{taken.pk}/", f"{LIST}upload/", f"{LIST}accounts/new/", decide)

    assert wrong_of(visitor, paths) == {}
