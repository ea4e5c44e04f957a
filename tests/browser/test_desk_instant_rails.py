"""The desk's pages of instant rails: readable, silent, never too wide."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common.clock import utc_now
from desk import doers
from desk.rails.instant import acts
from networks.instant.models import InstantLine
from tenants import actors
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import wrong_of
from tests.builders import make_staff
from tests.crashes import instant_rails

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]


@pytest.fixture
def sam(transactional_db):
    return make_staff("sam@ballast.example")


@pytest.fixture
def rail(transactional_db, acme):
    """In force, not heard, with two keys and a change that waits for sam."""
    kim, now = make_staff("kim@ballast.example"), utc_now()
    rail, olga = instant_rails.in_force(), instant_rails.olga()
    for _ in range(2):
        acts.make_key(rail=rail.pk, reason="First bank", doer=olga, now=now)
    terms = replace(
        instant_rails.terms(rail.pk),
        creditor_name="Ballast Incorporated of Delaware, for the benefit of its customers",
        statements="/srv/statements-of-the-first-bank/fednow_camt053_*.xml",
        position_warn_below=1_234_567_89,
    )
    acts.propose(
        rail=rail,
        terms=terms,
        account="9900003456",
        reason="The agreement of November says so, and the bank has confirmed it by telephone",
        doer=doers.person(actors.staff(kim.pk)),
        now=now,
    )
    InstantLine.objects.filter(pk=rail.pk).update(
        trouble="server_unknown",
        trouble_since=now - timedelta(minutes=3),
        heard_until=now - timedelta(minutes=3),
    )
    return rail


@in_every_look
def test_nothing_is_wrong_with_instant_rails(visit, sam, rail, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    page = f"/admin/desk/instant-rails/{rail.pk}/"
    paths = (
        "/admin/desk/rails/",
        page,
        f"{page}change/",
        f"{page}versions/1/",
        f"{page}versions/2/decide/",
    )

    assert wrong_of(visitor, paths) == {}
