from __future__ import annotations

import json
import time
from datetime import timedelta

import pytest
from django.db import connection

from balance.models import LedgerCheck
from common.clock import utc_now
from funding.transfer import FUNDING
from networks.ach import freezing
from networks.ach import switches as rail_switches
from networks.ach.models.rails import RailPart
from networks.base import EventKind
from tenants.actors import SYSTEM
from tenants.models import OutgoingEmail
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, ApiClient
from tests.database import owner
from tests.funding.builders import top_up
from tests.networks.ach.builders import FREEZE, make_originator, make_rail, take_some
from tests.networks.scripted import ScriptedNetwork, message
from transfers.inbox import arrivals, judging, messages
from webhooks.dispatcher import heartbeats

pytestmark = pytest.mark.django_db


def line_of(response, name):
    return next(line for line in response.content.decode().splitlines() if line.startswith(name))


def metrics(token=None):
    headers = {"Authorization": token} if token else None
    return ApiClient().get("/metrics", headers=headers)


class TestHealth:
    def test_the_process_answers_without_the_database(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            response = ApiClient().get("/healthz")

        assert (response.status_code, response.json()) == (200, {"status": "ok"})

    def test_it_is_ready_when_postgresql_answers(self):
        response = ApiClient().get("/readyz")

        assert (response.status_code, response.json()) == (200, {"status": "ok", "database": "ok"})

    @pytest.mark.parametrize(
        ("paths", "expected"),
        [
            (None, (503, {"status": "unavailable", "static": "not collected"})),
            ({"a.css": "a.1.css"}, (200, {"status": "ok", "database": "ok"})),
        ],
    )
    def test_a_deployment_is_ready_with_its_static_files(self, settings, tmp_path, paths, expected):
        if paths:
            manifest = {"version": "1.1", "hash": "", "paths": paths}
            (tmp_path / "staticfiles.json").write_text(json.dumps(manifest))
        settings.STATIC_ROOT = tmp_path
        settings.STORAGES = {
            **settings.STORAGES,
            "staticfiles": {"BACKEND": "config.static_files.StaticFiles"},
        }

        response = ApiClient().get("/readyz")

        assert (response.status_code, response.json()) == expected

    @pytest.mark.django_db(transaction=True)
    def test_it_is_not_ready_without_postgresql(self):
        name = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = "not_there"
        try:
            response = ApiClient().get("/readyz")
        finally:
            connection.close()
            connection.settings_dict["NAME"] = name

        assert response.status_code == 503
        assert response.json() == {"status": "unavailable", "database": "down"}

    def test_it_is_not_ready_on_a_server_that_takes_no_changes(self):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")

        response = ApiClient().get("/readyz")

        assert (response.status_code, response.json()) == (
            503,
            {
                "status": "unavailable",
                "database": "read-only",
                "reason": "default_transaction_read_only is on",
            },
        )

    @pytest.mark.django_db(transaction=True)
    def test_it_is_not_ready_on_a_standby(self):
        """Played by a function of the name in a schema that is searched first."""
        with owner.as_superuser(), connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA standby")
            cursor.execute("GRANT USAGE ON SCHEMA standby TO PUBLIC")
            cursor.execute(
                "CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean"
                " LANGUAGE sql AS 'SELECT true'"
            )
        with connection.cursor() as cursor:
            cursor.execute("SET search_path = standby, pg_catalog, public")
        try:
            response = ApiClient().get("/readyz")
        finally:
            with owner.as_superuser(), connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA standby CASCADE")
            connection.close()

        assert response.status_code == 503
        assert response.json()["reason"] == "it is a standby"

    @pytest.mark.django_db(transaction=True)
    def test_it_says_so_when_the_host_of_postgresql_is_silent(self, silent_server):
        away = {"HOST": "127.0.0.1", "PORT": str(silent_server)}
        home = {name: connection.settings_dict[name] for name in away}
        connection.close()
        connection.settings_dict.update(away)
        started_at = time.monotonic()
        try:
            response = ApiClient().get("/readyz")
        finally:
            connection.close()
            connection.settings_dict.update(home)

        assert response.status_code == 503
        assert time.monotonic() - started_at < 8


class TestMetrics:
    @pytest.mark.parametrize(
        "given", [None, "Bearer wrong", "Bearer ", "t0ken", "Basic t0ken", "é"]
    )
    def test_are_not_there_without_the_token(self, settings, given):
        settings.METRICS_TOKEN = "t0ken"

        assert metrics(given).status_code == 404

    def test_are_not_there_when_no_token_is_set(self, settings):
        settings.METRICS_TOKEN = ""

        assert metrics("Bearer ").status_code == 404

    def test_are_open_in_development(self, settings):
        settings.DEBUG = True

        assert metrics().status_code == 200

    def test_show_django_s_figures_and_the_age_of_due_work(self, settings):
        settings.METRICS_TOKEN = "t0ken"
        OutgoingEmail.objects.create(
            to="a@b.example",
            template="t",
            created_at=utc_now(),
            next_attempt_at=utc_now() - timedelta(minutes=3),
        )

        response = metrics("Bearer t0ken")

        assert line_of(response, "django_http_requests_total_by_method_total")
        age = line_of(response, 'ballast_oldest_due_seconds{queue="tenants.outgoingemail"}')
        assert 180 <= float(age.split()[-1]) < 200

    def test_count_each_answer_and_its_time_by_view(self, settings):
        settings.METRICS_TOKEN = "t0ken"
        figure = "django_http_requests_latency_seconds_by_view_method_count"
        ApiClient().get("/healthz")

        response = metrics("Bearer t0ken")

        assert line_of(response, 'django_http_responses_total_by_status_total{status="200"}')
        assert line_of(response, f'{figure}{{method="GET",view="')

    def test_work_that_is_not_due_has_no_age(self, settings):
        settings.METRICS_TOKEN = "t0ken"
        OutgoingEmail.objects.create(
            to="a@b.example",
            template="t",
            created_at=utc_now(),
            next_attempt_at=utc_now() + timedelta(minutes=3),
        )

        age = line_of(
            metrics("Bearer t0ken"), 'ballast_oldest_due_seconds{queue="tenants.outgoingemail"}'
        )
        assert float(age.split()[-1]) == 0

    def test_cannot_be_posted_to(self, settings):
        settings.DEBUG = True

        assert ApiClient().post("/metrics").status_code == 405


class TestAlarms:
    """What wakes somebody up: docs/operations.md, What to watch."""

    def value(self, name):
        return float(line_of(metrics("Bearer t0ken"), f"ballast_{name} ").split()[-1])

    @pytest.fixture(autouse=True)
    def token(self, settings):
        settings.METRICS_TOKEN = "t0ken"

    def test_nothing_is_said_of_a_ledger_that_was_never_checked(self):
        assert b"ballast_ledger" not in metrics("Bearer t0ken").content

    def test_the_last_ledger_check_that_ended_counts(self, acme):
        now = utc_now()
        checks: list[tuple[int, bool, list[dict[str, str]]]]
        checks = [(60, True, []), (30, True, [{}, {}]), (1, False, [])]
        for minutes, finished, findings in checks:
            started_at = now - timedelta(minutes=minutes)
            LedgerCheck.objects.create(
                started_at=started_at,
                finished_at=started_at + timedelta(minutes=1) if finished else None,
                is_full=False,
                ok=not findings if finished else None,
                findings=findings,
            )
        LedgerCheck.objects.create(
            started_at=now, finished_at=now, is_full=True, tenant=acme, ok=True
        )

        assert self.value("ledger_findings") == 2
        assert 29 * 60 <= self.value("ledger_check_age_seconds") < 30 * 60

    def test_a_dispatcher_that_stops_is_seen(self):
        assert self.value("dispatcher_alive") == 0

        heartbeats.beat(name="one", now=utc_now())
        assert self.value("dispatcher_alive") == 1

        heartbeats.beat(name="one", now=utc_now() - timedelta(minutes=1))
        assert self.value("dispatcher_alive") == 0

    def test_what_is_stopped_and_what_waits_for_staff_is_counted(self, acme):
        assert (self.value("switches_engaged"), self.value("inbound_review")) == (0, 0)

        switches.engage(kind=SwitchKind.FUNDING, reason="drill", actor=SYSTEM, now=utc_now())
        early = message(top_up(acme), EventKind.ACCEPTED)
        arrivals.collect(network=ScriptedNetwork(early), id_prefix="ftx_", now=NOW)
        messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)

        assert (self.value("switches_engaged"), self.value("inbound_review")) == (1, 1)

    def test_what_waits_on_its_way_to_a_bank_is_counted(self):
        assert (self.value("ach_late_files"), self.value("ach_unanswered")) == (0, 0)
        rail = make_rail().rail_id
        make_originator(daily_debit_max=1_000)
        take_some(2)
        freezing.freeze_due(rail, now=FREEZE)
        rail_switches.engage(
            rail=rail, part=RailPart.SENDING, reason="drill", by="usr_ann", now=FREEZE
        )

        assert self.value('ach_left_out{rail="first_bank",waits_for="daily_limit"}') == 2
        assert self.value('ach_stopped{part="sending",rail="first_bank"}') == 1
