"""What the API takes for JSON: exactly what every other parser would read the same way."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import MalformedJson
from api.parsers import DEPTH_MAX, parse_object
from tenants.models import AuditEvent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]

NOTES = "/api/v1/test/notes"


def send(api, body, content_type="application/json"):
    return api.generic("POST", NOTES, body, content_type=content_type)


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


REFUSED = {
    "cut off": b'{"amount":100,"text":"',
    "two documents": b'{"amount":100} {"amount":1}',
    "single quotes": b"{'amount':100}",
    "trailing comma": b'{"amount":100,}',
    "comment": b'{"amount":100 /* cents */}',
    "a key twice": b'{"amount":1,"amount":999999}',
    "a key twice, once escaped": b'{"amount":1,"\\u0061mount":999999}',
    "a key twice inside": b'{"amount":1,"metadata":{"a":"1","a":"2"}}',
    "string at the top": b'"amount"',
    "null at the top": b"null",
    "list at the top": b"[]",
    "number at the top": b"1",
    "not a number": b'{"amount":NaN}',
    "infinity": b'{"amount":Infinity}',
    "minus infinity": b'{"amount":-Infinity}',
    "a number that becomes infinity": b'{"amount":1e999}',
    "byte order mark": b'\xef\xbb\xbf{"amount":100}',
    "utf-16": '{"amount":100}'.encode("utf-16"),
    "latin-1": '{"amount":100,"text":"é"}'.encode("latin-1"),
    "over-long utf-8": b'{"amount":100,"text":"\xc0\xaf"}',
    "nul byte": b'{"amount":100\0}',
    "escaped nul": b'{"amount":100,"text":"\\u0000"}',
    "lone surrogate": b'{"amount":100,"text":"\\ud800"}',
    "lone surrogate in a key": b'{"amount":100,"\\ud800":1}',
    "nul in a key": b'{"amount":100,"a\\u0000b":1}',
    "5,000 digits": b'{"amount":' + b"1" * 5000 + b"}",
    "open brackets without end": b"[" * 60_000,
    "nested too deep": nested(DEPTH_MAX + 1),
    "nested a thousand deep": nested(1000),
    "only spaces": b"   ",
}


class TestMalformed:
    def test_is_refused_and_nothing_is_written(self, acme_api):
        before = AuditEvent.objects.count()

        for name, body in REFUSED.items():
            response = send(acme_api, body)

            assert response.status_code == 400, name
            assert response["Content-Type"] == "application/problem+json", name
            assert response.json()["code"] == "malformed_json", name
        assert AuditEvent.objects.count() == before

    def test_says_what_is_wrong(self, acme_api):
        detail = send(acme_api, REFUSED["a key twice"]).json()["detail"]
        assert detail == "The body is not valid JSON: a key appears twice."

        detail = send(acme_api, REFUSED["trailing comma"]).json()["detail"]
        assert detail.startswith("The body is not valid JSON: ")
        assert detail.endswith(" at character 14.")

        detail = send(acme_api, REFUSED["5,000 digits"]).json()["detail"]
        assert detail == "The body is not valid JSON: a number is too long."

    def test_takes_no_longer_for_hostile_text(self):
        hostile = b'{"a":"' + b'\\"' * 32_000

        started = time.perf_counter()
        with pytest.raises(MalformedJson):
            parse_object(hostile)

        assert time.perf_counter() - started < 2  # a naive look at the brackets: 15 s


class TestAccepted:
    def test_a_plain_body(self, acme_api):
        response = send(acme_api, b'{"amount":100}')

        assert response.status_code == 201
        assert response.json()["data"]["amount"] == 100

    def test_as_deep_as_promised(self):
        assert parse_object(nested(DEPTH_MAX)) == json.loads(nested(DEPTH_MAX))

    def test_a_pair_of_surrogates_is_one_character(self):
        assert parse_object(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}

    @pytest.mark.parametrize(
        "content_type",
        [
            "application/json",
            "application/json; charset=utf-8",
            'application/json;charset="UTF-8"',
            "Application/JSON",
        ],
    )
    def test_content_types(self, acme_api, content_type):
        assert send(acme_api, b'{"amount":100}', content_type).status_code == 201


class TestMoneyIsAnIntegerToken:
    @pytest.mark.parametrize(
        "token",
        [
            "100.0", "1e2", "1E2", '"100"', "true", "null", "[100]", '{"cents":100}', "0", "-1",
            "1000000000000001", "9007199254740993.0", '"1_000"', '"\u0661\u0660"',
            '"\uff11\uff10"', "9" * 400,
        ],
    )  # fmt: skip
    def test_and_nothing_like_it(self, acme_api, token):
        response = send(acme_api, f'{{"amount":{token}}}'.encode())

        assert response.status_code == 400
        assert response.json()["code"] == "invalid_request"
        assert [error["field"] for error in response.json()["errors"]] == ["amount"]
        assert not AuditEvent.objects.filter(action="note").exists()


class TestMediaType:
    @pytest.mark.parametrize(
        "content_type",
        [
            "", "text/plain", "application/jsonp", "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x", "application/json; charset=utf-16",
            "application/json; charset=zzz", "application/vnd.api+json", "garbage",
        ],
    )  # fmt: skip
    def test_anything_but_utf8_json_is_415(self, acme_api, content_type):
        response = send(acme_api, b'{"amount":100}', content_type)

        assert response.status_code == 415
        assert response.json()["code"] == "unsupported_media_type"
        assert not AuditEvent.objects.filter(action="note").exists()

    def test_says_what_curl_leaves_out(self, acme_api):
        response = send(acme_api, b'{"amount":100}', "application/x-www-form-urlencoded")

        assert response.json()["detail"] == (
            "Send JSON in UTF-8, with `Content-Type: application/json`."
        )

    def test_answers_json_whatever_is_accepted(self, acme_api):
        response = acme_api.get(NOTES, headers={"Accept": "text/html"})

        assert response.status_code == 200
        assert response["Content-Type"] == "application/json"


class TestSize:
    def test_64_kib_is_the_most(self, acme_api, settings):
        padding = settings.API_BODY_BYTES_MAX - len(b'{"amount":100}')

        assert send(acme_api, b'{"amount":100}' + b" " * padding).status_code == 201
        response = send(acme_api, b'{"amount":100}' + b" " * (padding + 1))

        assert response.status_code == 413
        assert response.json()["code"] == "payload_too_large"
        assert AuditEvent.objects.filter(action="note").count() == 1


storable = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | storable,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(storable, inner, max_size=4),
    max_leaves=20,
)


class TestEquivalence:
    @given(st.binary(max_size=60) | st.text('{}[]",:\\ue0d8 1a-+.truefalsn', max_size=40))
    def test_what_we_accept_json_loads_reads_the_same_and_the_rest_is_refused_cleanly(self, text):
        body = text if isinstance(text, bytes) else text.encode()
        try:
            value = parse_object(body)
        except MalformedJson:
            return

        assert value == json.loads(body)
        assert parse_object(json.dumps(value, allow_nan=False).encode()) == value

    @given(st.dictionaries(storable, json_values, max_size=5), st.booleans())
    def test_every_ordinary_object_comes_back_equal(self, value, ascii_only):
        body = json.dumps(value, ensure_ascii=ascii_only).encode()

        assert parse_object(body) == value
