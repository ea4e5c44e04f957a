"""Proofs of funds in a real browser: how their pages look to a tenant and at the desk."""

from __future__ import annotations

import pytest

from tenants.models import Role
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import sam, wrong_of
from tests.builders import make_member
from tests.solvency.builders import NEXT_DAY, adjust, fund, live, settle, take

__all__ = ["sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
LIST = "/admin/desk/proofs/"


@pytest.fixture
def ada(transactional_db):
    """A tenant in two proofs; another one has millions, and a third one owes something."""
    tenant, rich, poor = live("Ada"), live("Rich"), live("Poor")
    fund(tenant, 123_456)
    settle(tenant, 5_000)
    fund(rich, 987_654_321)
    adjust(poor, -4_200)
    take(not_on_statement=-12_300)
    adjust(tenant, -130_000)
    take(NEXT_DAY)
    return tenant


@in_every_look
def test_nothing_is_wrong_with_proofs_at_the_desk(visit, sam, ada, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)

    assert wrong_of(visitor, (LIST, f"{LIST}2026-11-20/", f"{LIST}2026-11-23/")) == {}


@in_every_look
def test_nothing_is_wrong_with_the_tenants_page(visit, ada, scheme, viewport):
    person = make_member(ada, email="ada@acme.example", role=Role.OWNER)
    visitor = visit(person, scheme=scheme, viewport=viewport)

    assert wrong_of(visitor, ("/dashboard/statements",)) == {}
