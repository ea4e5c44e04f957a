"""Which fields of a body the request log keeps, and that it keeps nothing else."""

from __future__ import annotations

import json
from functools import cache

import pytest
import yaml

from api import request_fields, request_log
from api.models import ApiRequest
from api.request_fields import KEPT, kept
from devstack.paths import ROOT
from tests.builders import make_source

SOURCE = "fs_01kajq3a2b3c4d5e6f7g8h9j0k"
RECIPIENT = "rcp_01kajq3a2b3c4d5e6f7g8h9j0k"
TOPUP = ("POST", "balance/topup")
PAYMENT = ("POST", "payments")
ACCOUNT_NUMBER = "000123456789"


def kept_of(operation, body):
    method, route = operation
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return kept(method, route, text)


class TestWhatIsKept:
    def test_of_a_top_up(self):
        body = {
            "description": "November float",
            "speed": "same_day",
            "fundingSourceId": SOURCE,
            "metadata": {"amount": 7},
            "amount": 25_000,
        }

        found = kept_of(TOPUP, body)

        assert found == {"amount": 25_000, "fundingSourceId": SOURCE, "speed": "same_day"}
        assert list(found) == ["amount", "fundingSourceId", "speed"]

    def test_of_a_payment_to_an_account_is_nothing_of_the_account(self):
        account = {
            "accountNumber": ACCOUNT_NUMBER,
            "routingNumber": "021000021",
            "accountHolderName": "Riverside Supply",
            "accountHolderType": "business",
            "accountType": "checking",
        }

        found = kept_of(PAYMENT, {"amount": 100, "waitForFunds": True, "recipient": account})

        assert found == {"amount": 100, "waitForFunds": True}

    def test_of_a_new_account_is_what_kind_it_is(self):
        body = {
            "accountNumber": ACCOUNT_NUMBER,
            "routingNumber": "021000021",
            "accountHolderName": "Riverside Supply",
            "accountHolderType": "business",
            "accountType": "checking",
            "nickname": "Riverside",
        }

        assert kept_of(("POST", "recipients"), body) == {
            "accountHolderType": "business",
            "accountType": "checking",
        }

    def test_of_cleared_settings_is_null(self):
        operation = ("POST", "balance/auto-funding/config")

        assert kept_of(operation, {"monthlyLimit": None}) == {"monthlyLimit": None}

    def test_of_a_replay_is_its_window(self):
        body = {"from": "2026-11-20T15:00:00Z", "to": "2026-11-20T15:00:00.5-05:00"}

        assert kept_of(("POST", "webhooks/<str:endpoint_id>/replay"), body) == body

    @pytest.mark.parametrize("amount", [0, -1, 1, 9_999_999])
    def test_of_amounts_are_those_that_are_plainly_cents(self, amount):
        assert kept_of(TOPUP, {"amount": amount}) == {"amount": amount}


HOSTILE = {
    "account number as an amount": {"amount": 123_456_789},
    "the smallest of eight digits": {"amount": 10_000_000},
    "eight digits below zero": {"amount": -10_000_000},
    "account number as text": {"amount": ACCOUNT_NUMBER},
    "card number": {"amount": 4_111_111_111_111_111},
    "decimal": {"amount": 12.5},
    "flag": {"amount": True},
    "nested": {"amount": {"amount": 5}},
    "list": {"amount": [5]},
    "long text": {"amount": "x" * 60_000},
    "secret as an id": {"fundingSourceId": "bal_live_" + "a" * 49},
    "token as an id": {"fundingSourceId": "processor-sandbox-acme"},
    "id with something behind it": {"fundingSourceId": f"{SOURCE}\n{ACCOUNT_NUMBER}"},
    "id of another kind": {"fundingSourceId": RECIPIENT},
    "id in capitals": {"fundingSourceId": SOURCE.upper()},
    "name as a choice": {"fundingMethod": "Dana Doe"},
    "list as a choice": {"speed": ["standard"]},
    "fields that are not listed": {"description": "x", "accountNumber": 5, "currency": "USD"},
    "field in another case": {"Amount": 5},
    "nothing": {},
}

BROKEN = {
    "no body": b"",
    "no JSON": b"amount=5",
    "a field twice": b'{"amount": 5, "amount": 123456789}',
    "a field twice in another spelling": b'{"amount": 5, "\\u0061mount": 6}',
    "a list": b'[{"amount": 5}]',
    "a number": b"5",
    "no UTF-8": b'{"amount": 5, "speed": "\xff"}',
    "a NUL": b'{"amount": 5, "speed": "\\u0000"}',
    "half a character": b'{"amount": 5, "speed": "\\ud800"}',
    "no number": b'{"amount": NaN}',
    "endless digits": b'{"amount": ' + b"9" * 50_000 + b"}",
    "endless nesting": b'{"amount": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "cut off": b'{"amount": 5',
}


class TestWhatIsNot:
    @pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
    def test_a_value_of_another_form(self, body):
        assert kept_of(TOPUP, body) is None

    @pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
    def test_anything_of_a_body_that_cannot_be_read(self, body):
        assert kept_of(TOPUP, body) is None

    def test_a_wrong_value_takes_no_right_one_along(self):
        assert kept_of(PAYMENT, {"amount": 123_456_789, "speed": "standard"}) == {
            "speed": "standard"
        }

    @pytest.mark.parametrize(
        "moment",
        [
            "2026-11-20",
            "20261120T150000Z",
            "2026-11-20T15:00:00Z, Dana Doe",
            "٢026-11-20T15:00:00Z",
        ],
        ids=["no time", "without dashes", "with a name", "other digits"],
    )
    def test_a_time_that_is_written_otherwise(self, moment):
        assert kept_of(("POST", "webhooks/<str:endpoint_id>/replay"), {"from": moment}) is None

    @pytest.mark.parametrize("operation", [("PATCH", "payments"), ("POST", "webhooks"), ("", "")])
    def test_anything_of_another_operation(self, operation):
        assert kept_of(operation, {"amount": 5, "description": "x"}) is None

    def test_the_amounts_that_prove_an_account(self):
        operation = ("POST", "balance/funding-sources/<str:source_id>/verify")

        assert kept_of(operation, {"amounts": [11, 22]}) is None


@cache
def document():
    return yaml.load((ROOT / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)


def schema_of(reference):
    return document()["components"]["schemas"][reference.rpartition("/")[2]]


def documented():
    """By operation the fields of its body, as the public document has them."""
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            if body := operation.get("requestBody"):
                reference = body["content"]["application/json"]["schema"]["$ref"]
                route = path.removeprefix("/api/v1/").replace("{", "<str:").replace("}", ">")
                yield (method.upper(), route), schema_of(reference).get("properties", {})


OF_ONE_FORM = [SOURCE, RECIPIENT, "2026-11-20T15:00:00Z"]  # a form knows one of them


def examples(schema):
    """Values that the document allows, which a form must know."""
    if "oneOf" in schema or "allOf" in schema:
        schema = (schema.get("oneOf") or schema["allOf"])[0]
    if "$ref" in schema:
        schema = schema_of(schema["$ref"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "enum" in schema:
        return [value for value in schema["enum"] if value is not None]
    if "integer" in kinds:
        return [schema["minimum"], 25_000]
    if "boolean" in kinds:
        return [True, False]
    return OF_ONE_FORM


FIELDS = [(operation, name) for operation, fields in KEPT.items() for name in fields]


class TestTable:
    """It cannot take the forms from the serializers, whose apps are above it, so it is compared."""

    @pytest.mark.parametrize(
        ("operation", "name"),
        FIELDS,
        ids=[f"{way} {route} {name}" for (way, route), name in FIELDS],
    )
    def test_names_fields_of_the_document_with_its_values(self, operation, name):
        schema = dict(documented())[operation][name]

        values = examples(schema)
        takes = [value for value in values if KEPT[operation][name](value)]

        assert len(takes) == 1 if values is OF_ONE_FORM else takes == values

    def test_says_of_each_other_field_that_it_may_not_be_kept(self):
        """A new field of the API is decided on here, and in the table if it may be kept."""
        left_out = {
            name
            for operation, fields in documented()
            for name in set(fields) - set(KEPT.get(operation, ()))
        }

        assert left_out == {
            "accountHolderName", "accountNumber", "amounts", "authorization", "confirmationEmails",
            "description", "events", "linkAccountId", "linkProcessorToken", "metadata", "nickname",
            "recipient", "routingNumber", "url",
        }  # fmt: skip

    def test_forms_refuse_what_is_unhashable_or_none(self):
        forms = [form for fields in KEPT.values() for form in fields.values()]
        odd: list[object] = [[], {}, None, "", b"", 1.0]

        assert not any(form(value) for form in forms for value in odd)
        assert request_fields.kept("POST", "payments", b"{}") is None


@pytest.mark.django_db
class TestWritten:
    @pytest.fixture(autouse=True)
    def switched_on(self, db, settings):
        settings.REQUEST_LOG_SECONDS = 86_400  # longer than any test, which writes itself
        yield
        request_log.flush()

    @staticmethod
    def written():
        request_log.flush()
        return ApiRequest.objects.get()

    def test_with_what_was_done(self, acme, acme_api):
        source = make_source(acme)
        body = {"amount": 25_000, "fundingSourceId": source.pk, "description": "secret plans"}

        assert acme_api.post_json("/api/v1/balance/topup", body).status_code == 201

        row = self.written()
        assert row.fields == {"amount": 25_000, "fundingSourceId": source.pk}

    def test_with_what_was_refused_for_its_form(self, acme_api):
        body = {"amount": 0, "fundingSourceId": ACCOUNT_NUMBER, "description": ACCOUNT_NUMBER}

        assert acme_api.post_json("/api/v1/balance/topup", body).status_code == 400

        row = self.written()
        assert row.fields == {"amount": 0}
        assert ACCOUNT_NUMBER not in json.dumps(row.problem)

    def test_with_what_an_id_in_the_address_belongs_to(self, acme_api):
        answer = acme_api.post_json("/api/v1/webhooks/wh_1/rotate-secret", {"overlapSeconds": 60})

        assert answer.status_code == 404
        assert self.written().fields == {"overlapSeconds": 60}

    def test_once_more_with_a_repeat(self, acme, acme_api):
        source = make_source(acme)
        body = {"amount": 25_000, "fundingSourceId": source.pk}
        for _ in range(2):
            acme_api.post_json("/api/v1/balance/topup", body, **{"Idempotency-Key": "k1"})

        request_log.flush()

        kept_twice = list(ApiRequest.objects.values_list("fields", flat=True))
        assert kept_twice == [body, body]

    def test_with_nothing_of_a_read(self, acme_api):
        acme_api.get("/api/v1/payments?limit=1")

        assert self.written().fields is None
