"""`Idempotency-Key`: one effect and one answer, byte for byte."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import close_old_connections, connection, transaction

from api import idempotency
from api.models import IdempotencyRecord
from common.clock import utc_now
from tenants.models import AuditEvent
from tests.api.machinery import NOTES
from tests.api.test_conventions_errors import problem
from tests.builders import ApiClient, make_key
from tests.races.together import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]


def post(api, body, key="k1", path=NOTES):
    return api.post_json(path, body, **{"Idempotency-Key": key})


def notes(action="note") -> int:
    return AuditEvent.objects.filter(action=action).count()


class TestRepeat:
    def test_has_one_effect_and_the_same_bytes(self, acme_api):
        first = post(acme_api, {"amount": 100})
        second = post(acme_api, {"amount": 100})

        assert (first.status_code, second.status_code) == (201, 201)
        assert second.content == first.content
        assert second["Location"] == first["Location"]
        assert second["Content-Type"] == first["Content-Type"] == "application/json"
        assert second["Cache-Control"] == "no-store"
        assert "Idempotent-Replayed" not in first
        assert second["Idempotent-Replayed"] == "true"
        assert second["X-Request-Id"] != first["X-Request-Id"]
        assert notes() == 1

    def test_without_a_key_is_another_request(self, acme_api):
        acme_api.post_json(NOTES, {"amount": 100})
        acme_api.post_json(NOTES, {"amount": 100})

        assert notes() == 2
        assert IdempotencyRecord.objects.count() == 0

    def test_works_for_every_key_of_the_tenant(self, acme, acme_api):
        first = post(acme_api, {"amount": 100})
        second = post(ApiClient(make_key(acme)), {"amount": 100})

        assert second.content == first.content
        assert notes() == 1

    def test_needs_the_scope_of_the_first_request(self, acme, acme_api):
        post(acme_api, {"amount": 100})
        reader = ApiClient(make_key(acme, scopes=["funding:read"]))

        problem(post(reader, {"amount": 100}), 403, "insufficient_scope")

    def test_of_another_tenant_is_theirs_alone(self, acme_api, rival_api):
        first = post(acme_api, {"amount": 100})
        other = post(rival_api, {"amount": 100})

        assert other.status_code == 201
        assert other.json()["data"]["id"] != first.json()["data"]["id"]
        assert "Idempotent-Replayed" not in other


class TestAnotherRequestWithTheSameKey:
    def test_with_another_body_is_422(self, acme_api):
        post(acme_api, {"amount": 100})

        problem(post(acme_api, {"amount": 101}), 422, "idempotency_key_reused")
        assert notes() == 1

    def test_with_the_same_values_spelled_differently_is_422(self, acme_api):
        post(acme_api, b'{"amount":100}')

        problem(post(acme_api, b'{"amount": 100}'), 422, "idempotency_key_reused")

    @pytest.mark.parametrize("path", [f"{NOTES}/link"])
    def test_to_another_path_is_422(self, acme_api, path):
        post(acme_api, {"amount": 100})

        problem(post(acme_api, {"amount": 100}, path=path), 422, "idempotency_key_reused")
        assert notes() == 1

    def test_leaves_the_first_answer_alone(self, acme_api):
        first = post(acme_api, {"amount": 100})
        post(acme_api, {"amount": 101})

        assert post(acme_api, {"amount": 100}).content == first.content


class TestKept:
    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}/link"])
    @pytest.mark.parametrize(
        ("outcome", "status"), [("not_found", 404), ("conflict", 409), ("rule", 422)]
    )
    def test_a_refusal_is_an_answer_and_undoes_what_was_done(self, acme_api, path, outcome, status):
        first = post(acme_api, {"amount": 100, "outcome": outcome}, path=path)
        second = post(acme_api, {"amount": 100, "outcome": outcome}, path=path)

        assert (first.status_code, second.status_code) == (status, status)
        assert second.content == first.content
        assert second["Content-Type"] == "application/problem+json"
        assert second["Idempotent-Replayed"] == "true"
        assert notes() == 0


class TestNotKept:
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"amount": 0}, 400),
            ({"amount": 100, "outcome": "forbidden"}, 403),
            ({"amount": 100, "outcome": "unavailable"}, 503),
            ({"amount": 100, "outcome": "bug"}, 500),
            ({"amount": 100, "outcome": "broken statement"}, 500),
            ({"amount": 100, "outcome": "lost connection"}, 503),
        ],
    )
    @pytest.mark.django_db(transaction=True)
    def test_answers_that_may_change(self, acme_api, body, status):
        assert post(acme_api, body).status_code == status
        close_old_connections()  # what Django does when the next request starts
        assert IdempotencyRecord.objects.count() == 0
        assert notes() == 0

        good = post(acme_api, {"amount": 100})
        assert good.status_code == 201
        assert "Idempotent-Replayed" not in good

    def test_neither_is_401(self, acme_api):
        problem(post(ApiClient(), {"amount": 100}), 401, "not_authenticated")
        assert IdempotencyRecord.objects.count() == 0

    def test_nor_429(self, acme, settings):
        settings.API_WRITES_PER_SECOND = 1
        api = ApiClient(make_key(acme))

        answers = [post(api, {"amount": 100}, key=f"k{number}") for number in range(5)]

        assert {answer.status_code for answer in answers} == {201, 429}
        kept = IdempotencyRecord.objects.count()
        assert kept == sum(answer.status_code == 201 for answer in answers)


class TestPrepare:
    def test_runs_before_the_transaction_and_its_result_is_passed_on(self, acme_api):
        response = post(acme_api, {"amount": 7}, path=f"{NOTES}/link")

        assert response.json() == {"data": {"prepared": "prepared 7"}}
        assert notes() == 1

    def test_is_not_run_again_for_a_repeat(self, acme_api):
        first = post(acme_api, {"amount": 7}, path=f"{NOTES}/link")

        assert post(acme_api, {"amount": 7}, path=f"{NOTES}/link").content == first.content
        assert (notes("asked"), notes()) == (1, 1)

    def test_a_server_that_is_down_is_not_an_answer(self, acme_api):
        body = {"amount": 7, "outcome": "unavailable"}

        problem(post(acme_api, body, path=f"{NOTES}/link"), 503, "test_note_server_down")
        assert IdempotencyRecord.objects.count() == 0


class TestForm:
    @pytest.mark.parametrize(
        "key",
        ["k", "8e03978e-40d5-43e8-bc93-6894a57f9324", "x" * 255, "' OR '1'='1", "a b", "{}[]~!"],
    )
    def test_1_to_255_printable_characters(self, acme_api, key):
        assert post(acme_api, {"amount": 1}, key=key).status_code == 201

    def test_quoted_and_bare_are_the_same_key(self, acme_api):
        first = post(acme_api, {"amount": 1}, key="8e03978e")

        assert post(acme_api, {"amount": 1}, key='"8e03978e"').content == first.content
        assert notes() == 1

    @pytest.mark.parametrize(
        "key",
        ["", " ", '""', '"', '"abc', 'abc"', 'a"b', "x" * 256, "clé", "a\tb", "a\x01", "日本"],
    )
    def test_anything_else_is_400_and_has_no_effect(self, acme_api, key):
        body = problem(post(acme_api, {"amount": 1}, key=key), 400, "invalid_idempotency_key")

        assert body["detail"] == "Send 1 to 255 printable ASCII characters."
        assert notes() == 0


@pytest.mark.django_db(transaction=True)
class TestInProgress:
    def test_is_409_with_retry_after_whatever_the_body(self, acme, acme_api):
        with transaction.atomic():
            _hold(acme, "k1")  # the first request, still running
            waiting = _in_another_thread(lambda: post(acme_api, {"amount": 1}))

        problem(waiting, 409, "idempotency_in_progress")
        assert waiting["Retry-After"] == "1"
        assert notes() == 0
        assert post(acme_api, {"amount": 1}).status_code == 201

    def test_begins_with_the_question_to_somebody_elses_server(self, acme, acme_api):
        number = idempotency._number_of(acme.pk, "k1")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [number])  # the first request asks
            path = f"{NOTES}/link"
            waiting = _in_another_thread(lambda: post(acme_api, {"amount": 1}, path=path))
            cursor.execute("SELECT pg_advisory_unlock(%s)", [number])

        problem(waiting, 409, "idempotency_in_progress")
        assert notes("asked") == 0
        assert post(acme_api, {"amount": 1}, path=path).status_code == 201
        with connection.cursor() as cursor:
            cursor.execute(  # of this database: other tests have theirs on the same server
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            assert cursor.fetchone() == (0,)

    def test_concerns_only_that_key_of_that_tenant(self, acme, acme_api, rival_api):
        with transaction.atomic():
            _hold(acme, "k1")
            same_tenant = _in_another_thread(lambda: post(acme_api, {"amount": 1}, key="k2"))
            same_key = _in_another_thread(lambda: post(rival_api, {"amount": 1}, key="k1"))

        assert (same_tenant.status_code, same_key.status_code) == (201, 201)

    def test_one_that_ended_unseen_leaves_the_only_answer(self, acme_api):
        """It had the lock when this one looked for an answer, and no longer when it tried it."""
        answer = post(acme_api, {"amount": 1, "outcome": "answered elsewhere"})

        assert answer.json() == {"data": {"id": "elsewhere"}}
        assert answer["Idempotent-Replayed"] == "true"
        assert notes() == 0


def _hold(tenant, key):
    with connection.cursor() as cursor:
        number = idempotency._number_of(tenant.pk, key)
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def _in_another_thread(act):
    (result,) = together(lambda _worker: act(), workers=1)
    return result


class TestForgetting:
    def test_happens_after_30_days(self, acme_api):
        post(acme_api, {"amount": 1}, key="old")
        post(acme_api, {"amount": 1}, key="new")
        now = utc_now()
        IdempotencyRecord.objects.filter(key="old").update(created_at=now - timedelta(days=31))
        IdempotencyRecord.objects.filter(key="new").update(created_at=now - timedelta(days=29))

        assert idempotency.forget_old(now=now) == 1

        assert [record.key for record in IdempotencyRecord.objects.all()] == ["new"]
        assert "Idempotent-Replayed" not in post(acme_api, {"amount": 1}, key="old")
