"""A development copy and its operator of instant payments: connected with the bank, as often as the
command runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from common.clock import utc_now
from demo.tenant import instant
from demo.tenant.bank import METHODS
from devstack.instant import client
from networks.instant import connecting, key_slots, participants, rails
from networks.instant.models import (
    InstantKey,
    InstantRail,
    InstantVersion,
    ParticipantList,
    Position,
    PositionMove,
)
from networks.instant.receiving import listening
from networks.rails.models import Route
from tests.devstack.instant.conftest import Operator
from tests.devstack.odfi.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
BOTH = ("fednow", "rtp")
# That take part, we among them.
BANKS = {"fednow": 9, "rtp": 8}


@pytest.fixture(autouse=True)
def bank(settings: Any, tmp_path: Path) -> Iterator[Bank]:
    """The running bank of this copy, which may use what stands in for the real ones."""
    settings.DEBUG = settings.DEVELOPMENT_ROUTES = True
    settings.RUN_DIR = tmp_path
    home = tmp_path / "bank"
    home.mkdir()
    bank = Bank(home)
    bank.start()
    yield bank
    bank.end()


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """The running operator of this copy."""
    running = Operator(tmp_path / "instant")
    running.home.mkdir()
    running.start()
    yield running
    connecting.close()
    running.end()


def seed() -> dict[str, Any]:
    out = StringIO()
    call_command("seed_live", "--json", stdout=out)
    said: dict[str, Any] = json.loads(out.getvalue())
    return said


def test_connects_both_networks_with_a_key_of_our_own_for_each(operator):
    made = seed()

    assert made["payersBank"] == client.connection(operator.home)["page"]
    for rail in BOTH:
        assert rails.current(rail).profile.name == rail
        assert listening.listen(rail, seconds=0, now=utc_now()) == 0
        line = InstantRail.objects.get(pk=rail).line
        assert (line.trouble, line.heard_until is not None) == ("", True)
        listed = participants.current(rail)
        assert listed is not None
        assert listed.banks == BANKS[rail]
        assert Position.objects.get(pk=rail).free == operator.ask("positions")[rail]["124000313"]
    assert InstantKey.objects.values("fingerprint").distinct().count() == len(BOTH)
    theirs = Path(client.connection(operator.home)["certificate"]).read_text()
    assert not InstantKey.objects.filter(certificate=theirs).exists()


def test_leads_live_tenants_to_them(operator):
    seed()

    routes = Route.objects.filter(mode="live").exclude(method__in=METHODS)
    assert set(routes.values_list("method", "rail", "development")) == {
        ("rtp_request", "rtp", True),
        ("rtp_credit", "fednow", True),
    }


def test_a_second_run_changes_nothing(operator):
    first = seed()
    models = (InstantRail, InstantVersion, InstantKey, ParticipantList, PositionMove)
    before = [model.objects.count() for model in models]

    second = seed()

    assert second == {**first, "apiKey": second["apiKey"]}
    assert [model.objects.count() for model in models] == before == [2, 2, 2, 2, 2]


def test_follows_the_operator_to_another_port_and_keeps_what_staff_changed(operator):
    seed()
    call_command(
        "instant_rail", "fednow", "--set", "payment_max=500000",
        "--operator", "Ann", "--reason", "as agreed", stdout=StringIO(),
    )  # fmt: skip
    operator.end()
    (operator.home / "operator.sqlite3").unlink()
    for path in (operator.home / "keys").iterdir():
        path.unlink()
    operator.start()

    made = seed()

    known = client.connection(operator.home)
    terms = rails.current("fednow").terms
    assert made["payersBank"] == known["page"]
    assert terms.connection.base_url == known["networks"]["fednow"]["base_url"]
    assert terms.connection.pins == tuple(known["pins"])
    assert terms.payment_max == 500_000
    assert listening.listen("fednow", seconds=0, now=utc_now()) == 0
    assert InstantRail.objects.get(pk="fednow").line.trouble == ""


def test_leaves_a_key_that_staff_made_in_use(operator):
    seed()
    call_command(
        "instant_key", "rtp", "--replace",
        "--operator", "Ann", "--reason", "lost", stdout=StringIO(),
    )  # fmt: skip
    theirs = key_slots.slots("rtp").used

    seed()

    assert key_slots.slots("rtp").used == theirs
    assert listening.listen("rtp", seconds=0, now=utc_now()) == 0
    assert InstantRail.objects.get(pk="rtp").line.trouble == ""


def test_leaves_live_tenants_without_instant_payments_where_no_operator_runs(tmp_path):
    made = seed()

    assert made["payersBank"] == ""
    assert not InstantRail.objects.exists()
    assert not instant.can_connect()


def test_connects_none_where_development_routes_are_off(operator, settings):
    settings.DEVELOPMENT_ROUTES = False

    assert not instant.can_connect()
