"""The API's own document, held against what the API answers."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

Operation = dict[str, Any]

_FILE = Path(__file__).parents[1] / "openapi.yaml"
_METHODS = ("get", "post", "patch", "delete")


@functools.cache
def load() -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(_FILE.read_text(), yaml.CSafeLoader)
    return document


def operations() -> Iterator[tuple[str, str, Operation]]:
    """Path, method in lower case, and operation."""
    for path, item in load()["paths"].items():
        yield from ((path, method, item[method]) for method in _METHODS if method in item)


def find(method: str, path: str) -> Operation | None:
    """The operation that answers a request, a fixed path before one with parameters."""
    return next((item for name, item in _patterns(method.lower()) if name.fullmatch(path)), None)


@functools.cache
def _patterns(method: str) -> list[tuple[re.Pattern[str], Operation]]:
    rows = sorted(
        (path.count("{"), path, item) for path, name, item in operations() if name == method
    )
    return [
        (
            re.compile(
                re.sub(r"{\w+}", "[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))
            ),
            item,
        )
        for _, path, item in rows
    ]


def answer(operation: Operation, status: int) -> dict[str, Any] | None:
    """What the document says of this status, or None."""
    found = operation["responses"].get(str(status))
    return resolve(found) if found else None


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` stands for; anything else is itself."""
    if "$ref" not in node:
        return node
    found: Any = load()
    for word in node["$ref"].removeprefix("#/").split("/"):
        found = found[word]
    return resolve(found)


def examples(content: dict[str, Any]) -> dict[str, Any]:
    """The values of a media type's examples, by name."""
    if "example" in content:
        return {"example": content["example"]}
    return {name: resolve(item)["value"] for name, item in content.get("examples", {}).items()}


def faults(schema: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with `value`, each with where it is."""
    validator = _referring(schema["$ref"]) if "$ref" in schema else _validator(schema)
    return [
        f"{'/'.join(map(str, item.absolute_path))}: {item.message}"
        for item in validator.iter_errors(value)
    ]


@functools.cache
def _referring(reference: str) -> Draft202012Validator:
    return _validator({"$ref": reference})


def _validator(schema: dict[str, Any]) -> Draft202012Validator:
    rooted = {**schema, "components": load()["components"]}
    return Draft202012Validator(rooted, format_checker=Draft202012Validator.FORMAT_CHECKER)


def disagreements(method: str, path: str, response: Any) -> list[str]:
    """Where an answer is not what the document says; empty for paths it does not speak of."""
    operation = find(method, path)
    if operation is None or response.status_code == 405:
        return []
    said = answer(operation, response.status_code)
    if said is None:
        return [f"{response.status_code} is not documented"]
    found = [f"no header {name}" for name in _missing_headers(said, response)]
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    content = said.get("content", {}).get(kind)
    if content is None:
        return [*found, f"{kind} is not documented"]
    if not kind.endswith("json"):
        return found
    body = json.loads(response.content)
    if kind == "application/problem+json" and body["code"] not in content["examples"]:
        found.append(f"{body['code']} is no example of {response.status_code}")
    return found + faults(content["schema"], body)


def _missing_headers(said: dict[str, Any], response: Any) -> list[str]:
    headers = {name: resolve(item) for name, item in said.get("headers", {}).items()}
    return [
        name
        for name, header in headers.items()
        if header.get("required") and name not in response.headers
    ]
