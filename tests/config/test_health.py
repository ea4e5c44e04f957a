from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import connection

from common.clock import utc_now
from tenants.models import OutgoingEmail
from tests.builders import ApiClient

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
