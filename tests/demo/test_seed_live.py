"""A development copy and its bank: connected by one command, as often as it runs."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from demo.tenant import bank as connecting
from demo.tenant import history, people
from devstack.odfi import client
from networks.ach import probing, rails, tasks
from networks.ach.models import AchKey, AchRail, Originator, RailVersion
from networks.rails.models import Route
from tenants.models import Tenant, User
from tests.builders import ApiClient
from tests.devstack.odfi.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def bank(settings, tmp_path):
    """The running bank of this copy."""
    settings.DEBUG = settings.DEVELOPMENT_ROUTES = True
    settings.RUN_DIR = tmp_path
    home = tmp_path / "bank"
    home.mkdir()
    bank = Bank(home)
    bank.start()
    yield bank
    bank.end()


def seed():
    out = StringIO()
    call_command("seed_live", "--json", stdout=out)
    return json.loads(out.getvalue())


def signed_in(client, email):
    client.post("/accounts/login/", {"login": email, "password": people.PASSWORD})
    return client


class TestSeedDemo:
    def test_leaves_staff_something_to_decide(self, client, bank, monkeypatch):
        monkeypatch.setattr(history, "DAYS", 2)
        for _ in range(2):
            call_command("seed_demo", "--json", stdout=StringIO())

        tasks.fetch_files()
        tasks.read_files()

        page = signed_in(client, people.OPERATOR).get("/admin/desk/exceptions/").content.decode()
        assert page.count("From OLD MILL SUPPLY") == 1
        assert "$312.50" in page
        assert "Find out whose money it is" in page


class TestSeedLive:
    def test_connects_the_bank(self, bank):
        made = seed()

        found = probing.probe(made["rail"])
        assert len(found) > 4
        assert [step.code for step in found if step.code] == []
        routes = Route.objects.filter(mode="live").values_list("method", "rail", "development")
        assert set(routes) == {("ach_debit", "standin", True), ("ach_credit", "standin", True)}

    def test_makes_a_tenant_that_can_be_used_at_once(self, bank):
        made = seed()

        topup = {"amount": 5_000, "fundingSourceId": made["sources"]["operating"]}
        answer = ApiClient(made["apiKey"]).post_json("/api/v1/balance/topup", topup)
        assert answer.status_code == 201, answer.content

    def test_makes_two_people_who_may_let_files_go(self, client, bank):
        seed()

        for email in (people.OPERATOR, people.RELEASER):
            person = User.objects.get(email=email)
            assert person.has_perm("ach.release_outfile")
            assert not person.is_superuser
            assert signed_in(client, email).get("/admin/desk/files/").status_code == 200
            client.logout()

    def test_a_second_run_only_replaces_the_key(self, bank):
        first = seed()
        signs_in = (bank.home / "keys" / "authorized_keys").read_text()

        second = seed()

        assert second == {**first, "apiKey": second["apiKey"]}
        assert ApiClient(first["apiKey"]).get("/api/v1/balance/summary").status_code == 401
        counts = [
            model.objects.count()
            for model in (AchRail, RailVersion, AchKey, Originator, Tenant, Route)
        ]
        assert counts[:5] == [1, 1, 1, 1, 1]
        assert (bank.home / "keys" / "authorized_keys").read_text() == signs_in

    def test_follows_the_bank_to_another_port_and_key_and_keeps_what_staff_changed(self, bank):
        seed()
        call_command(
            "ach_rail", connecting.RAIL, "--set", "lead=600",
            "--operator", "Ann", "--reason", "as agreed", stdout=StringIO(),
        )  # fmt: skip
        bank.end()
        for path in (bank.home / "keys").glob("host_*"):
            path.unlink()
        bank.start("--port", "0")

        seed()

        terms = rails.current(connecting.RAIL).parsed
        known = client.connection(bank.home)
        assert terms.connection.host_keys == (known["host_key"],)
        assert terms.connection.port == known["port"]
        assert terms.lead.total_seconds() == 600
        assert [step.code for step in probing.probe(connecting.RAIL) if step.code] == []

    def test_leaves_routes_where_somebody_closed_them(self, bank):
        seed()
        call_command(
            "set_route", "--mode", "live", "--method", "ach_debit", "--close", "--operator", "Ann",
            "--reason", "a test of mine", stdout=StringIO(),
        )  # fmt: skip

        seed()

        assert not Route.objects.get(mode="live", method="ach_debit").is_open

    def test_needs_a_bank_that_runs(self, bank):
        (bank.home / client.CONNECTION).unlink()

        with pytest.raises(CommandError, match="start the copy first"):
            seed()

    @pytest.mark.parametrize(("debug", "routes"), [(False, True), (True, False)])
    def test_refuses_outside_development(self, settings, bank, debug, routes):
        settings.DEBUG, settings.DEVELOPMENT_ROUTES = debug, routes

        with pytest.raises(CommandError, match="in development only"):
            seed()
        assert not Tenant.objects.exists()
