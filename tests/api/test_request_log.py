"""What is written down of a request, and what is not."""

from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest
from django.db import connection, connections

from api import request_log
from api.models import ApiRequest
from common.clock import utc_now
from tenants.models import ApiKey
from tests.builders import NOW, ApiClient, make_key
from tests.database import owner

pytestmark = pytest.mark.django_db

SUMMARY = "/api/v1/balance/summary"
ROUTING = "000000001"


@pytest.fixture(autouse=True)
def switched_on(settings, monkeypatch):
    """Without its thread: tests write by hand."""
    settings.REQUEST_LOG_SECONDS = 60
    monkeypatch.setattr(request_log._writer, "_pid", os.getpid())
    request_log._held.clear()
    yield
    request_log._held.clear()


def written():
    request_log.flush()
    return ApiRequest.objects.get()


class TestWhatIsKept:
    def test_of_a_request_that_worked(self, acme, acme_api):
        before = utc_now()
        response = acme_api.get(f"{SUMMARY}?a=b", headers={"X-Request-Id": "r1"})

        row = written()
        assert (row.tenant_id, row.key_id) == (acme.pk, ApiKey.objects.get().pk)
        assert (row.method, row.path, row.query) == ("GET", SUMMARY, "a=b")
        assert (row.status, row.request_id) == (response.status_code, "r1")
        assert row.address == "127.0.0.1"
        assert before <= row.created_at <= utc_now()
        assert 0 < row.duration_us < 5_000_000

    def test_of_a_refusal_is_its_problem_document(self, acme_api):
        response = acme_api.post_json(
            "/api/v1/balance/topup", {"amount": -1}, **{"Idempotency-Key": "invoice-7"}
        )

        row = written()
        assert (row.status, row.error_code) == (400, "invalid_request")
        assert row.problem == response.json()
        assert row.idempotency_key == "invoice-7"

    def test_of_an_answer_that_worked_is_no_body(self, acme_api):
        acme_api.get(SUMMARY)

        assert written().problem is None

    @pytest.mark.parametrize("path", ["/healthz", "/docs/errors", "/api/schema", "/dashboard/"])
    def test_of_other_pages_is_nothing(self, acme_api, path):
        acme_api.get(path)

        assert request_log.flush() == 0

    @pytest.mark.parametrize("key", [None, "bal_test_nonsense"])
    def test_without_a_known_key_is_nothing(self, db, key):
        ApiClient(key).get(SUMMARY)

        assert request_log.flush() == 0

    def test_of_a_key_used_from_elsewhere_is_the_refusal(self, acme):
        api = ApiClient(make_key(acme, allowed_networks=["203.0.113.0/24"]))

        assert api.get(SUMMARY).status_code == 403
        assert written().error_code == "address_not_allowed"

    def test_while_it_is_off_is_nothing(self, acme_api, settings):
        settings.REQUEST_LOG_SECONDS = 0
        acme_api.get(SUMMARY)

        assert request_log.flush() == 0


class TestSecrets:
    def test_in_path_query_and_key_are_blanked(self, acme, acme_api):
        secret = "bal_test_" + "a" * 49
        acme_api.get(
            f"/api/v1/funding/transactions/{secret}?number=000123456789",
            headers={"Idempotency-Key": f"k-{secret}"},
        )

        row = written()
        assert "aaaa" not in f"{row.path}{row.idempotency_key}{row.problem}"
        assert row.query == "number=[…6789]"

    def test_in_a_problem_document_are_blanked(self, acme_api):
        acme_api.post_json("/api/v1/balance/topup", {"000123456789": 1})

        assert "000123456789" not in json.dumps(written().problem)

    @pytest.mark.parametrize(
        "path",
        ["/api/v1/funding/transactions/%ED%A0%80", "/api/v1/funding/transactions/" + "é" * 999],
    )
    def test_nothing_odd_stops_the_others(self, acme_api, path):
        acme_api.get(path, headers={"Idempotency-Key": "é" * 300})
        acme_api.get(SUMMARY)

        assert request_log.flush() == 2


class TestCost:
    def test_a_read_writes_nothing(self, acme_api, django_assert_num_queries):
        acme_api.get(SUMMARY)  # notes the first use of the key

        with django_assert_num_queries(2) as queries:
            acme_api.get(SUMMARY)

        assert [q["sql"] for q in queries if not q["sql"].lstrip().startswith("SELECT")] == []

    def test_many_requests_are_one_statement(self, acme_api, django_assert_num_queries):
        for _ in range(20):
            acme_api.get(SUMMARY)

        with django_assert_num_queries(1):
            assert request_log.flush() == 20
        assert ApiRequest.objects.count() == 20

    def test_memory_has_a_bound(self, acme_api, monkeypatch):
        monkeypatch.setattr(request_log, "_held", type(request_log._held)(maxlen=3))
        for number in range(5):
            acme_api.get(SUMMARY, headers={"X-Request-Id": f"r{number}"})

        request_log.flush()

        kept = ApiRequest.objects.order_by("request_id").values_list("request_id", flat=True)
        assert list(kept) == ["r2", "r3", "r4"]


@pytest.mark.django_db(transaction=True)
class TestDatabaseAway:
    def test_holds_what_could_not_be_written(self, acme_api):
        acme_api.get(SUMMARY)
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE api_apirequest RENAME TO elsewhere")
        try:
            assert request_log.flush() == 0
        finally:
            with owner.as_owner(), connection.cursor() as cursor:
                cursor.execute("ALTER TABLE elsewhere RENAME TO api_apirequest")

        assert request_log.flush() == 1

    def test_the_thread_writes_and_gives_its_connection_back(self, acme_api, settings, monkeypatch):
        settings.REQUEST_LOG_SECONDS = 1
        acme_api.get(SUMMARY)

        request_log._writer._write()

        assert connections["default"].connection is None
        assert ApiRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
class TestRefusedRow:
    ODD = {  # noqa: RUF012  # never changed
        "NUL in JSON": {"body": b'{"a\\u0000b": 1}'},
        "NUL in text": {"request_id": "a\0b"},
        "half a character": {"request_id": "\ud800"},
        "too long": {"key_id": "key_" + "x" * 99},
        "missing": {"tenant_id": None},
        "too large": {"status": 99_999},
    }

    @pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
    def test_is_dropped_and_told_alone(self, acme_api, odd, log):
        for number in range(5):
            acme_api.get(SUMMARY, headers={"X-Request-Id": f"r{number}"})
        request_log._held[3] = request_log._held[3]._replace(**odd)

        assert request_log.flush() == 4

        assert len(log.of("request_log_row_dropped")) == 1
        assert log.of("request_log_not_written") == []
        kept = ApiRequest.objects.order_by("request_id").values_list("request_id", flat=True)
        assert list(kept) == ["r0", "r1", "r2", "r4"]
        assert not request_log._held

    def test_costs_those_that_wait_nothing_when_the_database_goes(self, acme_api, monkeypatch):
        """The first half is written, then the connection is lost: the rest waits, once."""
        for number in range(4):
            acme_api.get(SUMMARY, headers={"X-Request-Id": f"r{number}"})
        request_log._held[1] = request_log._held[1]._replace(status=99_999)
        copy, tries = request_log._copy, []

        def once_lost(batch):
            tries.append(len(batch))
            if len(tries) == 5:
                connection.close()
                monkeypatch.setattr(request_log, "_COPY", "COPY nowhere FROM STDIN")
            return copy(batch)

        monkeypatch.setattr(request_log, "_copy", once_lost)
        assert request_log.flush() == 1

        assert tries == [4, 2, 1, 1, 2]
        assert [entry.request_id for entry in request_log._held] == ["r2", "r3"]


class TestStrangers:
    @pytest.mark.parametrize("key", [None, "bal_test_nonsense"])
    def test_leave_a_line_with_their_address_in_the_log(self, db, key, log):
        ApiClient(key).get(SUMMARY)

        (line,) = log.of("request_finished")
        assert (line["code"], line["ip"]) == (401, "127.0.0.1")


class TestForgetting:
    def test_deletes_what_is_older_than_the_days_kept(self, acme, acme_api, settings):
        settings.REQUEST_LOG_DAYS = 14
        for _ in range(3):
            acme_api.get(SUMMARY)
        request_log.flush()
        old, edge, _new = ApiRequest.objects.order_by("pk").values_list("pk", flat=True)
        ApiRequest.objects.update(created_at=NOW)
        ApiRequest.objects.filter(pk=old).update(created_at=NOW - timedelta(days=14, seconds=1))
        ApiRequest.objects.filter(pk=edge).update(created_at=NOW - timedelta(days=14))

        assert request_log.forget_old(now=NOW) == 1
        assert not ApiRequest.objects.filter(pk=old).exists()
