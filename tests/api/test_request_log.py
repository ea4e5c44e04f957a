"""What is written down of a request, and what is not."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection

from api import request_log
from api.models import ApiRequest
from api.request_log import Entry, Held, Writer
from common.clock import utc_now
from tenants.models import ApiKey
from tests.builders import NOW, ApiClient, make_key, make_source
from tests.database import owner
from tests.scenarios.product import wait_until

pytestmark = pytest.mark.django_db

SUMMARY = "/api/v1/balance/summary"
A_DAY = 86_400


@pytest.fixture(autouse=True)
def switched_on(db, settings):
    """Tests write by hand: the thread of the process waits longer than they take."""
    settings.REQUEST_LOG_SECONDS = A_DAY
    yield
    request_log.flush()  # what a test left, into its own transaction


def written():
    request_log.flush()
    return ApiRequest.objects.get()


def entry(tenant, number=0, **odd):
    """A request as it is noted."""
    usual = {
        "tenant_id": tenant.pk,
        "key_id": "key_1",
        "request_id": f"r{number}",
        "method": "GET",
        "path": SUMMARY,
        "query": "",
        "fields": None,
        "status": 200,
        "body": b"",
        "idempotency_key": "",
        "address": "127.0.0.1",
        "duration_us": 7,
        "created_at": utc_now(),
    }
    return Entry(**usual | odd)


def kept():
    """The requests that were written, by their ids."""
    return list(ApiRequest.objects.order_by("request_id").values_list("request_id", flat=True))


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

    def test_of_one_that_made_something_is_the_id_of_that(self, acme, acme_api):
        source = make_source(acme)
        repeated = {"Idempotency-Key": "invoice-7"}
        made = acme_api.post_json(
            "/api/v1/balance/topup", {"amount": 25_000, "fundingSourceId": source.pk}, **repeated
        )
        acme_api.post_json(
            "/api/v1/balance/topup", {"amount": 25_000, "fundingSourceId": source.pk}, **repeated
        )
        request_log.flush()

        funding_id = made.json()["data"]["id"]
        first, second = ApiRequest.objects.order_by("created_at", "pk")
        assert (first.made_id, second.made_id) == (funding_id, funding_id)
        assert request_log.that_made(tenant_id=acme.pk, made_id=funding_id) == first

    def test_of_a_refusal_is_nothing_that_was_made(self, acme, acme_api):
        acme_api.post_json("/api/v1/balance/topup", {"amount": -1})

        assert written().made_id == ""
        assert request_log.that_made(tenant_id=acme.pk, made_id="") is None

    def test_is_not_found_by_another_tenant(self, acme, acme_api, rival):
        source = make_source(acme)
        made = acme_api.post_json(
            "/api/v1/balance/topup", {"amount": 25_000, "fundingSourceId": source.pk}
        ).json()["data"]["id"]
        request_log.flush()

        assert request_log.that_made(tenant_id=acme.pk, made_id=made) is not None
        assert request_log.that_made(tenant_id=rival.pk, made_id=made) is None

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

    def test_memory_has_a_bound(self, acme):
        held = Held(most=3)
        for number in range(5):
            held.add(entry(acme, number))

        held.flush()

        assert kept() == ["r2", "r3", "r4"]


def run_as_superuser(*statements):
    with owner.as_superuser(), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def sessions_beside_ours():
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
class TestDatabaseAway:
    def test_holds_what_could_not_be_written(self, acme_api):
        acme_api.get(SUMMARY)
        run_as_superuser("ALTER TABLE api_apirequest RENAME TO elsewhere")
        try:
            assert request_log.flush() == 0
        finally:
            run_as_superuser("ALTER TABLE elsewhere RENAME TO api_apirequest")

        assert request_log.flush() == 1

    def test_holds_the_newest_as_far_as_there_is_room(self, acme):
        held = Held(most=2)
        for number in range(2):
            held.add(entry(acme, number))
        run_as_superuser("ALTER TABLE api_apirequest RENAME TO elsewhere")
        try:
            assert held.flush() == 0
        finally:
            run_as_superuser("ALTER TABLE elsewhere RENAME TO api_apirequest")
        held.add(entry(acme, 2))

        assert held.flush() == 2
        assert kept() == ["r1", "r2"]


@pytest.mark.django_db(transaction=True)
class TestThread:
    @pytest.fixture
    def held(self):
        return Held()

    @pytest.fixture
    def writer(self, held):
        writer = Writer(held)
        yield writer
        writer.end()

    def test_writes_by_itself_and_gives_its_connection_back(self, acme, settings, held, writer):
        settings.REQUEST_LOG_SECONDS = 0.05
        held.add(entry(acme))

        writer.start_once()

        wait_until(lambda: kept() == ["r0"], seconds=30)
        settings.REQUEST_LOG_SECONDS = A_DAY  # it lives on, and waits
        wait_until(lambda: sessions_beside_ours() == 0, seconds=30)

    def test_writes_what_is_left_when_it_ends(self, acme, held, writer):
        writer.start_once()
        held.add(entry(acme))

        writer.end()

        assert kept() == ["r0"]


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

    @pytest.fixture
    def session_that_ends(self):
        """PostgreSQL ends the session that writes a request of the id `fatal`."""
        run_as_superuser(
            "CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
            " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'",
            "CREATE TRIGGER end_session BEFORE INSERT ON api_apirequest FOR EACH ROW"
            " WHEN (NEW.request_id = 'fatal') EXECUTE FUNCTION end_session()",
        )
        yield
        connection.close()
        run_as_superuser("DROP FUNCTION end_session CASCADE")

    @pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
    def test_is_dropped_and_told_alone(self, acme, odd, log):
        held = Held()
        for number in range(5):
            held.add(entry(acme, number, **odd if number == 3 else {}))

        assert held.flush() == 4

        assert len(log.of("request_log_row_dropped")) == 1
        assert log.of("request_log_not_written") == []
        assert kept() == ["r0", "r1", "r2", "r4"]
        assert held.flush() == 0

    def test_costs_those_that_wait_nothing_when_the_database_goes(
        self, acme, session_that_ends, log
    ):
        """The first half is written, then the connection is lost: the rest waits, once."""
        held = Held()
        held.add(entry(acme, 0))
        held.add(entry(acme, 1, status=99_999))
        held.add(entry(acme, request_id="fatal"))
        held.add(entry(acme, 3))

        assert held.flush() == 1

        connection.close()  # as the thread does after each write
        assert kept() == ["r0"]
        assert [line["dropped_request_id"] for line in log.of("request_log_row_dropped")] == ["r1"]
        assert [line["count"] for line in log.of("request_log_not_written")] == [2]
        assert len(held) == 2


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
