"""Every error under `/api/` is a problem document, wherever it is made."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.db import close_old_connections, connection, transaction

from common.errors import DomainError
from tenants.models import AuditEvent, Tenant
from tests.api.machinery import NOTES
from tests.builders import ApiClient, make_key
from tests.database import owner
from tests.races.together import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]

MEMBERS = {"type", "title", "status", "detail", "code", "requestId", "errors"}


def problem(response, status: int, code: str):
    """The problem document of a response that is what it should be."""
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    assert set(body) >= MEMBERS
    assert (body["status"], body["code"]) == (status, code)
    assert body["type"] == f"{settings.BASE_URL}/docs/errors#{code}"
    assert body["requestId"] == response["X-Request-Id"]
    assert body["title"] == DomainError.registry[code].title
    assert re.search(r"Traceback|File \"|django|psycopg|SELECT", response.content.decode()) is None
    return body


class TestPathsAndMethods:
    @pytest.mark.parametrize(
        "path",
        ["/api/v1/nothing", "/api/", "/api", "/api/v2/balance/summary", "/api/v1/test/notes/",
         "/api/v1/../../etc/passwd", "/api/v1/%2e%2e/%2e%2e/admin/", "/api/v1/test/notes/a/b/c"],
    )  # fmt: skip
    def test_an_unknown_path_is_404(self, acme_api, path):
        for method in ("GET", "POST", "PUT", "PROPFIND"):
            problem(acme_api.generic(method, path), 404, "not_found")

    def test_a_slash_too_many_is_named(self, acme_api):
        body = problem(acme_api.get(f"{NOTES}/"), 404, "not_found")

        assert body["detail"] == f"There is no GET {NOTES}/. No address here ends in a slash."

    def test_an_unknown_path_is_404_without_a_key_too(self, db):
        problem(ApiClient().get("/api/v1/nothing"), 404, "not_found")

    @pytest.mark.parametrize("path", ["x%00", "%00", "aud_01\0"])
    def test_a_nul_in_the_path_is_404(self, acme_api, path):
        problem(acme_api.get(f"{NOTES}/{path}"), 404, "not_found")

    @pytest.mark.parametrize("path", ["%FF%FE", "%C0%AF", "%", "%zz", "é", "%ED%A0%80", "x" * 3000])
    def test_an_id_that_cannot_be_one_is_404(self, acme_api, path):
        problem(acme_api.get(f"{NOTES}/{path}"), 404, "not_found")

    def test_another_tenants_id_is_404(self, acme_api, rival_api):
        theirs = rival_api.post_json(NOTES, {"amount": 1}).json()["data"]["id"]

        problem(acme_api.get(f"{NOTES}/{theirs}"), 404, "not_found")

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
    def test_another_method_is_405_with_allow(self, acme_api, method):
        response = acme_api.generic(method, NOTES, b"{}", content_type="application/json")

        body = problem(response, 405, "method_not_allowed")
        assert response["Allow"] == "GET, POST, HEAD"
        assert body["detail"].endswith("The Allow header names those that are.")

    def test_a_method_override_header_changes_nothing(self, acme_api):
        response = acme_api.get(NOTES, headers={"X-HTTP-Method-Override": "DELETE"})

        assert response.status_code == 200

    def test_head_is_get_without_its_body(self, acme_api):
        response = acme_api.head(NOTES)

        assert (response.status_code, response.content) == (200, b"")


class TestRefusals:
    @pytest.mark.parametrize(
        ("outcome", "status", "code"),
        [
            ("not_found", 404, "not_found"),
            ("conflict", 409, "test_note_taken"),
            ("rule", 422, "test_note_refused"),
            ("forbidden", 403, "test_note_forbidden"),
            ("unavailable", 503, "test_note_server_down"),
        ],
    )
    def test_each_kind_has_its_status(self, acme_api, outcome, status, code):
        problem(acme_api.post_json(NOTES, {"amount": 1, "outcome": outcome}), status, code)

    def test_extra_members_are_camel_case(self, acme_api):
        body = acme_api.post_json(NOTES, {"amount": 1, "outcome": "conflict"}).json()

        assert body["existingId"] == "aud_1"
        assert body["detail"] == "This note exists."
        assert body["errors"] == []

    def test_the_field_is_named(self, acme_api):
        body = acme_api.post_json(NOTES, {"amount": 1, "outcome": "rule"}).json()

        assert body["availableBalance"] == 5
        assert body["errors"] == [
            {"field": "amount", "code": "test_note_refused", "message": "Not this one."}
        ]

    def test_503_says_when_to_come_back(self, acme_api):
        response = acme_api.post_json(NOTES, {"amount": 1, "outcome": "unavailable"})

        assert response["Retry-After"] == "1"


class TestInput:
    def test_names_every_field_that_is_wrong(self, acme_api):
        response = acme_api.post_json(
            NOTES, {"amount": 0, "text": "two\nlines", "kind": "A", "urgent": "yes"}
        )

        body = problem(response, 400, "invalid_request")
        found = {error["field"]: error["code"] for error in body["errors"]}
        assert found == {
            "amount": "min_value",
            "text": "invisible",
            "kind": "invalid_choice",
            "urgent": "invalid",
        }
        told = {error["field"]: error["message"] for error in body["errors"]}
        assert told["amount"] == "Send at least 1 (cents)."
        assert told["urgent"] == "Send true or false, without quotes."

    @pytest.mark.parametrize("amount", ["100", 100.0, True, None])
    def test_says_how_an_amount_is_sent(self, acme_api, amount):
        body = problem(acme_api.post_json(NOTES, {"amount": amount}), 400, "invalid_request")

        (error,) = body["errors"]
        assert error["field"] == "amount"
        assert error["message"] == (
            "This field may not be null."
            if amount is None
            else "Send cents as a JSON integer, without quotes or point: 25000 is $250.00."
        )

    def test_a_missing_field(self, acme_api):
        body = problem(acme_api.post_json(NOTES, {}), 400, "invalid_request")

        assert [(error["field"], error["code"]) for error in body["errors"]] == [
            ("amount", "required")
        ]

    @pytest.mark.parametrize("name", ["foo", "Amount", "amount ", "id", "tenantId", "status"])
    def test_an_unknown_or_read_only_field_is_refused(self, acme_api, name):
        response = acme_api.post_json(NOTES, {"amount": 1, name: "x"})

        body = problem(response, 400, "unknown_field")
        assert [(error["field"], error["code"]) for error in body["errors"]] == [
            (name, "unknown_field")
        ]
        assert body["errors"][0]["message"] == (
            "This field is not known. Fields here: amount, text, kind, urgent, metadata, outcome."
        )

    def test_a_thousand_unknown_fields_get_a_short_answer(self, acme_api):
        response = acme_api.post_json(NOTES, {f"f{number}": 1 for number in range(1000)})

        assert len(problem(response, 400, "unknown_field")["errors"]) == 20

    @pytest.mark.parametrize(
        "metadata",
        [[], "x", {"a": 1}, {"a": None}, {"a": {"b": "c"}}, {"": "x"}, {"k" * 41: "x"},
         {"k": "v" * 501}, {f"k{number}": "v" for number in range(21)}],
    )  # fmt: skip
    def test_metadata_is_a_few_pairs_of_strings(self, acme_api, metadata):
        response = acme_api.post_json(NOTES, {"amount": 1, "metadata": metadata})

        body = problem(response, 400, "invalid_request")
        assert [error["field"] for error in body["errors"]] == ["metadata"]

    @pytest.mark.parametrize(
        "text", ["a\u202eb", "a\u200bb", "a\u3164", "a\ufe0f", "a\u2028b", "a\tb", "\x1b[0m"]
    )
    def test_text_that_cannot_be_seen_is_refused(self, acme_api, text):
        response = acme_api.post_json(NOTES, {"amount": 1, "text": text})

        assert problem(response, 400, "invalid_request")["errors"][0]["code"] == "invisible"

    @pytest.mark.parametrize("text", ["Zoë’s", "日本", "👍", "=1+1", "<b>", "Łódź"])
    def test_text_of_any_script_passes(self, acme_api, text):
        assert acme_api.post_json(NOTES, {"amount": 1, "text": text}).status_code == 201


class TestBroken:
    def test_a_bug_is_a_500_that_says_nothing(self, acme_api):
        response = acme_api.get(f"{NOTES}/bug")

        body = problem(response, 500, "internal_error")
        assert body["detail"] == "The error was recorded."
        assert "000123456789" not in response.content.decode()

    def test_a_bug_is_a_500_in_debug_too(self, acme_api, settings):
        settings.DEBUG = True

        problem(acme_api.get(f"{NOTES}/bug"), 500, "internal_error")
        problem(acme_api.get("/api/v1/nothing"), 404, "not_found")

    @pytest.mark.parametrize("debug", [True, False])
    @pytest.mark.parametrize("host", ["evil.example", "a b", "testserver:x", "", "[::1", "é"])
    def test_a_foreign_or_malformed_host_is_400(self, acme_api, settings, host, debug):
        settings.DEBUG = debug

        problem(acme_api.get(NOTES, headers={"Host": host}), 400, "malformed_request")

    def test_a_row_locked_for_too_long_is_503(self, acme_api):
        response = acme_api.get(f"{NOTES}/locked")

        problem(response, 503, "temporarily_unavailable")
        assert response["Retry-After"] == "1"

    def test_security_headers_stay_on_answers_that_were_made_anew(self, acme_api):
        for response in (
            acme_api.get(NOTES, headers={"Host": "evil.example"}),
            acme_api.get(NOTES),
        ):
            assert response["X-Content-Type-Options"] == "nosniff"
            assert response["Referrer-Policy"] == "same-origin"

    def test_pages_outside_the_api_stay_html(self, db):
        assert ApiClient().get("/nothing")["Content-Type"].startswith("text/html")


@pytest.mark.django_db(transaction=True)
class TestDatabase:
    def test_down_is_503(self, acme, settings):
        api = ApiClient(make_key(acme))
        old = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = "not_there"
        try:
            response = api.get(NOTES)
        finally:
            connection.close()
            connection.settings_dict["NAME"] = old

        problem(response, 503, "temporarily_unavailable")
        assert response["Retry-After"] == "1"

    def test_a_row_that_somebody_holds_is_503_and_nothing_is_written(self, acme, acme_api):
        def post(_worker):
            return acme_api.post_json(NOTES, {"amount": 1, "outcome": "locked row"})

        with transaction.atomic():
            Tenant.objects.select_for_update().get(pk=acme.pk)
            (response,) = together(post, workers=1)

        problem(response, 503, "temporarily_unavailable")
        assert response["Retry-After"] == "1"
        assert not AuditEvent.objects.filter(action="note").exists()

    def test_sessions_give_up_waiting(self):
        with connection.cursor() as cursor:
            for name, value in (
                ("lock_timeout", "3s"),
                ("idle_in_transaction_session_timeout", "30s"),
            ):
                cursor.execute(f"SHOW {name}")
                assert cursor.fetchone() == (value,)

    def test_a_connection_that_died_is_503_and_then_heals(self, acme):
        api = ApiClient(make_key(acme))
        _end_other_backends()

        first = api.get(NOTES)
        close_old_connections()  # what Django does when the next request starts
        second = api.get(NOTES)

        problem(first, 503, "temporarily_unavailable")
        assert second.status_code == 200


def _end_other_backends() -> None:
    other = owner.another_connection()
    with other.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    other.close()


class TestTheReference:
    def test_every_code_explains_itself(self):
        for code, error in DomainError.registry.items():
            assert re.fullmatch("[a-z][a-z0-9_]+", code)
            assert error.title, code
            assert error.advice.endswith("."), code

    def test_a_type_leads_to_the_section_of_its_code(self, db):
        page = ApiClient().get("/docs/errors").content.decode()

        for code in DomainError.registry:
            assert f'id="{code}"' in page, code
