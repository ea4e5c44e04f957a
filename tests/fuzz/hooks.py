"""Checks of our own beside schemathesis's: what every refusal must be."""

from __future__ import annotations

import json
import os
import uuid
from typing import Any

import schemathesis
from schemathesis.core import NotSet
from schemathesis.generation.meta import TestPhase

# What `tests.fuzz.tenant` made, by path parameter.
IDS: dict[str, str] = json.loads(os.environ["BALLAST_IDS"])
_PLACES = ("limit", "cursor")
_NAMED_IN_BODIES = {"fundingSourceId": "source_id", "recipientId": "recipient_id"}
_AMOUNT_MAX = 1_000_00
# Well-formed input that only the server can refuse: a cursor of another list, a checksum, a name
# that no address belongs to, a window before the last 30 days, a moment still to come.
ONLY_THE_SERVER_KNOWS = {
    "invalid_authorization",
    "invalid_bank_details",
    "invalid_cursor",
    "invalid_replay_window",
    "invalid_webhook_url",
}


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    """Makes valid input valid by what JSON Schema cannot say.

    An id that was made up becomes one that exists, so that requests get past 404; the ids that
    links bring are left alone. An idempotency key is made new: used for two requests it only
    ever means 422. `100.0` becomes `100`: the same number to JSON Schema, not to us, because
    money is an integer token.
    """
    if case.meta is None:
        return
    if not case.meta.generation.mode.is_positive:
        _keep_wrong(case)
        return
    for name, value in (case.path_parameters or {}).items():
        if name in IDS and "_01" not in str(value):
            case.path_parameters[name] = IDS[_spared(case, name)]
    if key := (case.headers or {}).get("Idempotency-Key"):
        case.headers["Idempotency-Key"] = f"{key[:200]}{uuid.uuid4()}"
    case.body = _with_integer_tokens(case.body)
    if case.meta.phase.name == TestPhase.STATEFUL:
        _lead_on(case)


def _lead_on(case: Any) -> None:
    """Walks start where there is something to follow: filters that are made up find nothing, and
    money moves between accounts that exist. The other phases try all of that."""
    if case.method == "GET":
        case.query = {name: case.query[name] for name in _PLACES if name in (case.query or {})}
    if isinstance(case.body, dict):
        for field, parameter in _NAMED_IN_BODIES.items():
            if "_01" not in str(case.body.get(field, "_01")):
                case.body[field] = IDS[parameter]
        if isinstance(case.body.get("amount"), int):
            case.body["amount"] = case.body["amount"] % _AMOUNT_MAX + 1


def _keep_wrong(case: Any) -> None:
    """A wrong id may have been replaced by one that exists, and an optional body left out: nothing
    would be wrong any more. Such a request gets a body that is."""
    if isinstance(case.body, NotSet) and case.operation.body:
        case.media_type = "application/json"
        case.body = ["not an object"]


def _spared(case: Any, name: str) -> str:
    """What is removed is another one than what the other operations use."""
    return f"spare_{name}" if case.method == "DELETE" else name


def _with_integer_tokens(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_integer_tokens(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_integer_tokens(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@schemathesis.check
def refusals_are_documented(ctx: Any, response: Any, case: Any) -> None:
    """A refusal is problem JSON whose code is one of this operation's for this status."""
    if response.status_code < 400 or response.status_code == 405:
        return
    kind = response.headers["content-type"][0]
    assert kind == "application/problem+json", f"{response.status_code} is {kind}"
    code = response.json()["code"]
    known = _codes(case.operation, response.status_code)
    assert code in known, f"{code} is not an example of {response.status_code}: {known}"


@schemathesis.check
def valid_input_is_not_called_malformed(ctx: Any, response: Any, case: Any) -> None:
    """What the document allows gets 400 only for reasons that a document cannot give."""
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if response.status_code == 400 and is_positive:
        code = response.json()["code"]
        assert code in ONLY_THE_SERVER_KNOWS, f"valid by the document, but {code}"


def _codes(operation: Any, status: int) -> set[str]:
    document = operation.schema.raw_schema
    answer = operation.definition.raw["responses"].get(str(status), {})
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return {*answer.get("content", {}).get("application/problem+json", {}).get("examples", {})}
