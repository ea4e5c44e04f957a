"""The document itself: valid, complete, and its examples true."""

from __future__ import annotations

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.management.commands.openapi import explain
from common.errors import DomainError
from tests import document
from tests.builders import ApiClient
from tests.document import examples, faults, load, operations, resolve
from tests.fuzz.tenant import stock
from webhooks import events

OPERATIONS = [pytest.param(*item, id=item[2]["operationId"]) for item in operations()]
PROBLEM = "application/problem+json"


def json_bodies(operation):
    """The request and every successful answer that are JSON."""
    bodies = [operation.get("requestBody", {})]
    bodies += [item for status, item in operation["responses"].items() if status[0] == "2"]
    return [
        body["content"]["application/json"]
        for body in bodies
        if "application/json" in body.get("content", {})
    ]


def closed(schema):
    """The same schema without room for members it does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(item) for name, item in resolve(schema).items()}
    if inner.get("type") == "object" and "properties" in inner:
        inner.setdefault("additionalProperties", False)
    return inner


def test_it_is_valid_openapi_31():
    assert load()["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(load()).iter_errors()] == []


def test_a_warning_about_a_choice_says_which_components_have_it_and_where_to_name_it():
    warning = 'Warning: naming collision for "status". It was resolved with "WebhookStatus".'

    assert explain(warning, load()).splitlines()[:2] == [
        warning,
        "WebhookStatus is used by RemovedWebhook.status, Webhook.status, WebhookWithSecret.status",
    ]
    assert "ENUM_NAME_OVERRIDES (config/openapi_settings.py)" in explain(warning, load())


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
class TestEveryOperation:
    def test_shows_examples_that_are_valid(self, path, method, operation):
        for content in json_bodies(operation):
            shown = examples(content)

            assert shown
            assert {
                name: faults(closed(content["schema"]), value) for name, value in shown.items()
            } == {name: [] for name in shown}

    def test_shows_each_refusal_it_names(self, path, method, operation):
        refusals = [status for status in operation["responses"] if status[0] in "45"]

        assert {"400", "401", "403", "429", "500", "503"} <= {*refusals}
        for status in refusals:
            content = resolve(operation["responses"][status])["content"][PROBLEM]
            shown = examples(content)
            assert shown
            for code, problem in shown.items():
                assert (problem["code"], problem["status"]) == (code, int(status))
                assert code in DomainError.registry
                assert faults(content["schema"], problem) == []

    def test_says_what_it_does(self, path, method, operation):
        assert operation["description"]
        assert all(resolve(item)["description"] for item in operation["responses"].values())

    def test_links_lead_to_operations_with_such_a_parameter(self, path, method, operation):
        known = {item["operationId"]: item for _, _, item in operations()}
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                target = known[link["operationId"]]
                names = {item["name"] for item in target["parameters"]}
                assert {*link.get("parameters", {})} <= names


def test_every_code_of_the_error_reference_is_an_operations():
    """But for methods that no operation has."""
    shown: set[str] = set()
    for _, _, operation in operations():
        for status, answer in operation["responses"].items():
            if status[0] in "45":
                shown |= examples(resolve(answer)["content"][PROBLEM]).keys()

    known = DomainError.registry.items()
    ours = {code for code, error in known if not error.__module__.startswith("tests.")}
    assert shown | {"method_not_allowed"} == ours


def test_every_object_with_an_id_leads_somewhere():
    linked = [
        item["operationId"]
        for _, _, item in operations()
        if any("links" in said for said in item["responses"].values())
    ]

    assert len(linked) > 25


def test_every_event_is_described_with_an_example():
    described = load()["webhooks"]

    assert list(described) == [*events.PAYMENT_EVENTS, *events.NOTICES, events.TEST]
    for name, item in described.items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        shown = examples(content).values()
        assert {value["type"] for value in shown} == {name}
        assert [faults(closed(content["schema"]), value) for value in shown] == [[]] * len(shown)


# An example speaks of objects that do not exist; these stand in for them, by the prefix of the id.
STAND_INS = {"fs_": "source_id", "rcp_": "recipient_id"}
# What an example asks for besides: a bank account waiting for its deposits, a window of today.
NEEDS_MORE = {"fundingSource_verify", "webhook_replay", "fundingSource_enter", "recipient_create"}


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    [
        pytest.param(*item, id=item[2]["operationId"])
        for item in operations()
        if "requestBody" in item[2] and item[2]["operationId"] not in NEEDS_MORE
    ],
)
def test_a_copied_example_is_accepted(acme, settings, path, method, operation):
    settings.WEBHOOK_ALLOW_HTTP = True
    made = stock(acme)
    api = ApiClient(made.key)
    (content,) = (operation["requestBody"]["content"]["application/json"],)

    answers = [
        getattr(api, f"{method}_json")(path.format(**made.ids), with_real_ids(value, made.ids))
        for value in examples(content).values()
    ]

    assert [item.json() for item in answers if item.status_code not in {200, 201}] == []


def with_real_ids(value, ids):
    if isinstance(value, dict):
        return {name: with_real_ids(item, ids) for name, item in value.items()}
    if isinstance(value, str):
        prefix = value.partition("_")[0] + "_"
        return ids[STAND_INS[prefix]] if prefix in STAND_INS else value
    return value


def test_an_answer_that_is_not_in_the_document_is_noticed(acme_api):
    response = acme_api.get("/api/v1/balance/summary")
    response.content = b'{"data": {"availableBalance": "1"}}'

    assert len(document.disagreements("GET", "/api/v1/balance/summary", response)) >= 2
