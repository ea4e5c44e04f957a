"""Adds to the reference what only the whole product knows: titles, examples, and links.

The last two are tables by component: an operation's examples and links follow from the schemas of
its request and of its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from balance.api import examples as balance
from config.openapi_links import LINKS, Target
from config.openapi_summaries import SUMMARIES
from funding.api import examples as funding
from payments.api import examples as payments
from solvency.api import examples as solvency
from webhooks.api import examples as webhooks

Document = dict[str, Any]

EXAMPLES: dict[str, Document] = {
    **balance.EXAMPLES,
    **solvency.EXAMPLES,
    **funding.EXAMPLES,
    **payments.EXAMPLES,
    **webhooks.EXAMPLES,
}
PROBLEM_MEMBERS: dict[str, Document] = {
    **balance.PROBLEM_MEMBERS,
    **funding.PROBLEM_MEMBERS,
    **payments.PROBLEM_MEMBERS,
}
_NEXT_CURSOR = "eyJhIjoxfQ:1vM2xk:kq0gq2cTtXn3o5n7m9b1"


def describe_summaries(result: Document, **_generator: Any) -> Document:
    """drf-spectacular's postprocessing hook."""
    for operation in _operations(result):
        name = operation["operationId"]
        if name in SUMMARIES:  # a test says which is missing
            rest = dict(operation)
            operation.clear()
            operation.update({"operationId": name, "summary": SUMMARIES[name]} | rest)
    return result


def describe_examples(result: Document, **_generator: Any) -> Document:
    """drf-spectacular's postprocessing hook."""
    components = result["components"]
    for code, members in PROBLEM_MEMBERS.items():
        components["examples"][code]["value"].update(members)
    for operation in _operations(result):
        for content in _json_of(operation.get("requestBody", {})):
            content["examples"] = _named(_examples_of(_component(content["schema"])))
        for _status, content in _answers(operation):
            content["examples"] = _named(_answer_examples(content["schema"], components))
    return result


def describe_links(result: Document, **_generator: Any) -> Document:
    """drf-spectacular's postprocessing hook."""
    for operation in _operations(result):
        for status, content in _answers(operation):
            links = dict(_links(operation, content["schema"], result["components"]))
            if links:
                operation["responses"][status]["links"] = links
    return result


def _operations(result: Document) -> Iterator[Document]:
    for operations in result["paths"].values():
        yield from operations.values()


def _answers(operation: Document) -> Iterator[tuple[str, Document]]:
    """The status and content of each successful JSON answer."""
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from ((status, content) for content in _json_of(answer))


def _json_of(body: Document) -> Iterator[Document]:
    if "application/json" in body.get("content", {}):
        yield body["content"]["application/json"]


def _component(schema: Document) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _row(schema: Document, components: Document) -> tuple[str, bool]:
    """The component in an answer's `data`, and whether `data` is a list of them."""
    data = components["schemas"][_component(schema)]["properties"]["data"]
    is_list = "items" in data
    return _component(data["items"] if is_list else data), is_list


def _answer_examples(schema: Document, components: Document) -> Document:
    name, is_list = _row(schema, components)
    if not is_list:
        return {key: {"data": value} for key, value in _examples_of(name).items()}
    rows = list(_examples_of(name).values())
    return {
        "page": {"data": rows, "nextCursor": _NEXT_CURSOR, "hasMore": True},
        "lastPage": {"data": rows[:1], "nextCursor": None, "hasMore": False},
    }


def _examples_of(name: str) -> Document:
    if name not in EXAMPLES:
        raise LookupError(f"{name} needs an example in its app's api/examples.py")
    return EXAMPLES[name]


def _named(examples: Document) -> Document:
    return {name: {"value": value} for name, value in examples.items()}


def _links(
    operation: Document, schema: Document, components: Document
) -> Iterator[tuple[str, Document]]:
    name, is_list = _row(schema, components)
    start = "$response.body#/data/0" if is_list else "$response.body#/data"
    for target in LINKS.get(name, ()):
        yield target.name, _link(target, start)
    if is_list:
        yield (
            "nextPage",
            {
                "operationId": operation["operationId"],
                "parameters": {"cursor": "$response.body#/nextCursor"},
                "description": "With the same filters, until `nextCursor` is null.",
            },
        )


def _link(target: Target, start: str) -> Document:
    value = f"{start}/{target.member}"
    link: Document = {"operationId": target.operation}
    if target.body_member is None:
        return {**link, "parameters": {target.parameter: value}}
    return {**link, "requestBody": {**target.body, target.body_member: value}}
