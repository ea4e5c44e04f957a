"""A development copy and its operator of instant payments: connected with the bank, as often as the
command runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from common.clock import utc_now
from demo.tenant import instant
from demo.tenant.bank import METHODS, RAIL
from devstack import programs
from devstack.instant import client
from devstack.instant.profiles import PROFILES
from networks.ach import connecting as ach
from networks.ach.connection_terms import Folders
from networks.ach.inbound import fetching as ach_files
from networks.ach.sftp.bank import connected
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
from reconciliation import closing, fetching, proving, reading, unproven
from reconciliation.matching import running
from reconciliation.models import ClosedDay, ExpectedLine, SettlementAccount
from solvency.models import ProofReport
from solvency.reports import parsed
from tests.devstack.instant.conftest import Operator
from tests.devstack.odfi.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
BOTH = ("fednow", "rtp")
AS_IN_A_COPY = [f"--term={each}" for each in programs.OPERATOR_TERMS]
BROUGHT_IN = 100_000_000
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
    running.start(*AS_IN_A_COPY)
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
        assert Position.objects.get(pk=rail).free == BROUGHT_IN
        assert operator.ask("positions")[rail]["124000313"] == BROUGHT_IN
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
    models = (
        InstantRail, InstantVersion, InstantKey, ParticipantList, PositionMove, SettlementAccount,
    )  # fmt: skip
    before = [model.objects.count() for model in models]

    second = seed()

    assert second == {**first, "apiKey": second["apiKey"]}
    assert [model.objects.count() for model in models] == before == [2, 2, 2, 2, 2, 3]
    assert operator.ask("positions")["rtp"]["124000313"] == BROUGHT_IN


def close_days() -> None:
    """Take the statements that are there, and close and prove what can be."""
    fetching.fetch_due(now=utc_now())
    with connected(ach.settings(RAIL)) as line:
        ach_files.fetch(line, rail_id=RAIL, folders=Folders(), now=utc_now())
    while reading.read_due(now=utc_now()):
        pass
    running.run_due(now=utc_now())
    closing.close_due(now=utc_now())
    proving.prove_due(now=utc_now())


def last_closed() -> dict[str, ClosedDay]:
    rows = ClosedDay.objects.order_by("rail_id", "-day").distinct("rail_id")
    return {row.rail_id: row for row in rows}


def test_days_close_by_themselves_and_are_proven(operator, bank, settings):
    seed()
    settings.ACH_BANK_CLOCK = str(bank.home / "clock.json")
    operator.ask("clock", seconds=1)  # the day before is over
    begun = {name: PROFILES[name].cycle_day(utc_now()) for name in BOTH}

    # The bank's days pass in seconds, the networks' do not: each of the bank's is proven.
    for _ in range(2):
        bank.days(2)
        close_days()
        closed = last_closed()
        for name in BOTH:
            assert (closed[name].day, closed[name].bank) == (begun[name] - timedelta(days=1), 0)
        report = ProofReport.objects.latest("day")
        assert report.day == closed[RAIL].day > begun["rtp"]
        on_its_way = {each["rail"]: each["notOnStatement"] for each in parsed(report)["bank"]}
        assert on_its_way == {"rtp": BROUGHT_IN, "fednow": BROUGHT_IN, RAIL: 0}
        assert list(unproven.obstacles(now=utc_now())) == []
    assert ProofReport.objects.count() == 2

    # As if the networks' day were over.
    ends = max(PROFILES[name].end_of_day(begun[name]) for name in BOTH)
    operator.ask("clock", to=ends.isoformat())
    bank.days(1)
    close_days()

    closed = last_closed()
    for name in BOTH:
        there = (closed[name].day, closed[name].bank, closed[name].in_transit)
        assert there == (begun[name], BROUGHT_IN, 0)
    moves = set(PositionMove.objects.values_list("pk", "rail"))
    found = ExpectedLine.objects.filter(rail__in=BOTH, match__rule="end_to_end")
    assert set(found.values_list("reference", "rail")) == moves
    report = ProofReport.objects.latest("day")
    assert report.day == closed[RAIL].day
    assert {each["closing"] for each in parsed(report)["bank"] if each["rail"] != RAIL} == {
        BROUGHT_IN
    }


def test_brings_money_in_that_an_interrupted_start_has_written_down(operator):
    seed()
    operator.end()
    (operator.home / "operator.sqlite3").unlink()
    operator.start(*AS_IN_A_COPY)
    assert operator.ask("positions")["rtp"]["124000313"] == 0

    seed()

    assert operator.ask("positions")["rtp"]["124000313"] == BROUGHT_IN
    assert PositionMove.objects.filter(rail="rtp").count() == 1


def test_leaves_money_that_no_statement_tells_of_without_an_account(operator):
    operator.ask("fund", profile="rtp", amount=700)

    seed()

    assert set(SettlementAccount.objects.values_list("rail", flat=True)) == {"fednow", RAIL}
    assert Position.objects.get(pk="rtp").balance == 700


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
    operator.start(*AS_IN_A_COPY)

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
