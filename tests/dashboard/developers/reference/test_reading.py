"""The reference has everything of openapi.yaml, each thing at one place."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from common.errors import DomainError
from config import api_v1
from config.openapi_summaries import SUMMARIES
from dashboard.developers.docs.reference.kinds import DEPTH_MAX, Kinds
from dashboard.developers.docs.reference.reading import Reader, reference
from tests import document
from tests.document import operations

BASE = "https://ballast.example"
EVENTS = list(document.load()["webhooks"])


@pytest.fixture(scope="module")
def known():
    return reference(base_url=BASE)


def shown(known):
    return [operation for page in known.resources for operation in page.operations]


def by_id(known, name):
    return next(operation for operation in shown(known) if operation.id == name)


def all_members(kind):
    for owner in (kind, *kind.options):
        for member in owner.members:
            yield member
            yield from all_members(member.kind)


def required_fields(schema):
    """Which fields a schema has, whether each is required, and the same of those in it."""
    found = document.resolve(schema)
    found = document.resolve(found.get("items", found))
    return {
        name: (name in found.get("required", ()), required_fields(inner))
        for name, inner in found.get("properties", {}).items()
    }


def required_members(kind):
    return {one.name: (one.is_required, required_members(one.kind)) for one in kind.members}


def depth(kind):
    return 1 + max((depth(member.kind) for member in kind.members), default=0)


class TestReference:
    def test_has_each_operation_once(self, known):
        described = {item["operationId"]: (path, method) for path, method, item in operations()}

        assert Counter(one.id for one in shown(known)) == Counter(described.keys())
        assert {one.id: (one.path, one.method.lower()) for one in shown(known)} == described

    def test_has_each_event_once(self, known):
        notices = [notice.name for page in known.resources for notice in page.notices]

        assert notices == list(document.load()["webhooks"])

    @pytest.mark.parametrize("name", [one for one in EVENTS if one.startswith("payment.")])
    def test_has_the_fields_of_an_event_for_money_in_and_money_out(self, known, name):
        content = document.load()["webhooks"][name]["post"]["requestBody"]["content"]
        content = content["application/json"]
        described = document.resolve(content["schema"])["properties"]["data"]["oneOf"]
        notice = next(one for page in known.resources for one in page.notices if one.name == name)

        data = next(one.kind for one in notice.kind.members if one.name == "data")

        assert [one.description for one in data.options] == [
            "Money in: a funding transaction.",
            "Money out: a payment.",
        ]
        assert [required_members(one) for one in data.options] == [
            required_fields(one) for one in described
        ]
        for option, schema in zip(data.options, described, strict=True):
            choices = {one.name: one.kind.choices for one in option.members}
            assert choices["status"] == tuple(schema["properties"]["status"]["enum"])
            assert choices["direction"] == (schema["properties"]["direction"]["const"],)
        assert [one.name for one in notice.examples] == ["Money in", "Money out"]
        assert [json.loads(one.text) for one in notice.examples] == list(
            document.examples(content).values()
        )

    def test_has_each_object_of_an_answer_once(self, known):
        things = {thing.name: thing for page in known.resources for thing in page.things}
        answered = {one.answer.thing.name for one in shown(known) if one.answer.thing}

        assert sum(len(page.things) for page in known.resources) == len(things)
        assert things.keys() == answered
        for page in known.resources:
            for thing in page.things:
                assert thing.address == f"/docs/api/{page.slug}#{thing.name}"

    def test_has_each_parameter_of_path_and_query(self, known):
        for path, method, item in operations():
            said = {
                (found["name"], found.get("required", False))
                for found in item.get("parameters", ())
                if found["in"] in {"path", "query"}
            }
            operation = by_id(known, item["operationId"])
            found = {(one.name, one.is_required) for one in operation.parameters}
            assert found == said, (path, method)

    def test_has_each_error_of_an_operation(self, known):
        everywhere = {refusal.code for refusal in known.refusals}
        assert {"invalid_token", "rate_limited", "internal_error"} <= everywhere
        for _path, _method, item in operations():
            said = {
                code
                for status, found in item["responses"].items()
                if not status.startswith("2")
                for code in document.resolve(found)["content"]["application/problem+json"][
                    "examples"
                ]
            }
            own = {refusal.code for refusal in by_id(known, item["operationId"]).refusals}
            assert own | everywhere == said
            assert own & everywhere == set()
            assert said <= DomainError.registry.keys()

    def test_has_each_field_of_a_body_with_whether_it_is_required(self, known):
        for _path, _method, item in operations():
            content = item.get("requestBody", {}).get("content", {}).get("application/json")
            operation = by_id(known, item["operationId"])
            fields = required_fields(content["schema"]) if content else {}
            found = required_members(operation.body) if operation.body else {}
            assert found == fields

    def test_names_the_scope_that_the_view_asks_for(self, known):
        asked = {}
        for pattern in api_v1.urlpatterns:
            path = "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
            view: Any = pattern.callback
            for method, action in view.actions.items():
                asked[path, method.upper()] = view.cls.scopes[action]

        shown_scopes = {(one.path, one.method): one.scope for one in shown(known)}

        assert {place: asked.get(place) for place in shown_scopes} == shown_scopes

    def test_titles_all_operations_and_no_others(self, known):
        assert SUMMARIES.keys() == {one.id for one in shown(known)}
        assert {one.id: one.title for one in shown(known)} == SUMMARIES
        assert len(set(SUMMARIES.values())) == len(SUMMARIES)

    def test_refuses_an_operation_without_a_page(self):
        tree = document.load()
        strange = {"operationId": "loan_list", **tree["paths"]["/api/v1/payments"]["get"]}
        strange["operationId"] = "loan_list"
        paths = {**tree["paths"], "/api/v1/loans": {"get": strange}}

        with pytest.raises(LookupError, match="loan_list"):
            Reader({**tree, "paths": paths}, BASE).reference()


class TestKind:
    """Of values as the document has them."""

    def kind(self, known, operation, name):
        found = all_members(by_id(known, operation).body)
        return next(member.kind for member in found if member.name == name)

    def thing(self, known, name):
        return next(one for page in known.resources for one in page.things if one.name == name)

    def test_says_the_unit_once(self, known):
        amount = self.kind(known, "payment_create", "amount")
        assert (amount.words, amount.rules) == ("integer, cents", ("at least 1",))
        assert amount.description == ""

    def test_takes_text_from_alternatives(self, known):
        text = self.kind(known, "topUp_create", "description")
        assert (text.words, text.rules) == ("string", ("at most 140 characters",))

    def test_says_what_may_be_null(self, known):
        threshold = self.kind(known, "autoFunding_configure", "confirmationThreshold")
        assert threshold.words == "integer, cents or null"
        payment = {one.name: one.kind for one in self.thing(known, "Payment").kind.members}
        assert payment["approval"].words == "object or null"
        assert "decidedBy" in {one.name for one in payment["approval"].members}
        rule = {one.name: one.kind for one in self.thing(known, "AutoFundingConfig").kind.members}
        assert rule["fundingMethod"].words == "string or null"
        assert rule["fundingMethod"].choices == ("ach_debit", "rtp")

    def test_lists_the_values_there_are(self, known):
        events = self.kind(known, "webhook_create", "events")
        assert events.words == "list of strings"
        assert events.choices[0] == "payment.created"
        assert events.choices[-1] == "*"
        assert len(events.choices) == 11
        assert events.rules == ("at least 1 value", "each once")

    def test_says_which_fields_exclude_each_other(self, known):
        assert by_id(known, "payment_create").one_of == ("recipient", "recipientId")

    def test_has_a_pattern_only_where_nothing_describes_it(self):
        kinds = Kinds({})
        bare = {"type": "string", "pattern": "^[0-9]{9}$"}

        assert kinds.of(bare).rules == ("matches `^[0-9]{9}$`",)
        assert kinds.of({**bare, "description": "Nine digits."}).rules == ()

    def test_has_the_default(self, known):
        assert "`standard` unless given" in self.kind(known, "topUp_create", "speed").rules

    def test_ends_where_an_object_holds_itself(self):
        tree = {
            "type": "object",
            "properties": {"child": {"$ref": "#/components/schemas/Node"}},
        }
        kinds = Kinds({"components": {"schemas": {"Node": tree}}})

        assert depth(kinds.of({"$ref": "#/components/schemas/Node"})) == DEPTH_MAX + 1

    def test_refuses_a_reference_that_leads_nowhere(self):
        with pytest.raises(LookupError):
            Kinds({"components": {}}).of({"$ref": "#/components/schemas/Nothing"})

    def test_is_never_without_words(self, known):
        for operation in shown(known):
            for member in all_members(operation.body) if operation.body else ():
                assert member.kind.words, (operation.id, member.name)
