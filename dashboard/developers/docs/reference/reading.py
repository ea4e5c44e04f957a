"""openapi.yaml as pages: read once per process, and again only when the file has changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from api import document
from dashboard.developers.docs.reference import kinds, samples
from dashboard.developers.docs.reference.kinds import Kinds, Schema
from dashboard.developers.docs.reference.pages import NOTICES, PAGES, Page, noun_of
from dashboard.developers.docs.reference.parts import (
    Answer,
    Example,
    Notice,
    Operation,
    Parameter,
    Reference,
    Refusal,
    Resource,
    Thing,
)

_JSON = "application/json"
_PROBLEM = "application/problem+json"
_PARAMETER = re.compile(r"{(\w+)}")
_CAPITAL = re.compile("(?<=[a-z])([A-Z])")
_NO_LETTERS = re.compile("[^a-z0-9]+")
# Headers that every answer, or every repeatable one, may have; the first page describes them.
_COMMON_HEADERS = {"X-Request-Id", "RateLimit", "RateLimit-Policy", "Idempotent-Replayed"}
_THINGS_IN_WORDS = {"AutoFundingConfig": "Auto-funding settings",
                    "AutoFundingDecision": "Auto-funding decision",
                    "BalanceTransaction": "Statement line",
                    "FundingSource": "Bank account",
                    "PaymentConfirmation": "Approval of a payment",
                    "SandboxConfirmation": "Approval of a funding transaction",
                    "Webhook": "Webhook endpoint",
                    "WebhookWithSecret": "Webhook endpoint with its secret",
                    "RemovedSource": "Removed bank account",
                    "RemovedWebhook": "Removed webhook endpoint",
                    "WebhookDelivery": "Delivery",
                    "WebhookDeliveryDetail": "Delivery with its attempts",
                    "WebhookTest": "Test call"}  # fmt: skip
# Of the bodies of payment events.
_EXAMPLES_IN_WORDS = {"fundingTransaction": "Money in", "payment": "Money out"}


def reference(*, base_url: str) -> Reference:
    """The reference; `base_url` is where the samples call. Raises LookupError for an operation that
    no page is for."""
    return _read(document.current(), base_url)


@lru_cache(maxsize=2)
def _read(found: document.Document, base_url: str) -> Reference:
    return Reader(found.tree, base_url).reference()


@dataclass(frozen=True)
class _Described:
    """An operation as the document has it."""

    path: str
    method: str
    node: Schema

    @property
    def id(self) -> str:
        return str(self.node["operationId"])


class Reader:
    """Reads one document."""

    def __init__(self, tree: Mapping[str, Any], base_url: str) -> None:
        self.tree = tree
        self.base_url = base_url
        self.kinds = Kinds(tree)
        self.described = [
            _Described(path, method, node)
            for path, methods in tree["paths"].items()
            for method, node in methods.items()
        ]
        self.things = dict(self._things())

    def reference(self) -> Reference:
        known = {noun for page in PAGES for noun in page.nouns}
        if lost := [item.id for item in self.described if noun_of(item.id) not in known]:
            raise LookupError(f"{lost} need a page in reference/pages.py")
        common = self._common_refusals()
        notices = Resource(
            slug=NOTICES.slug, title=NOTICES.title, lead=NOTICES.lead, notices=self._notices()
        )
        return Reference(
            resources=(*(self._resource(page, common) for page in PAGES), notices),
            headers=tuple(self._headers()),
            refusals=tuple(sorted(common.values(), key=lambda one: (one.status, one.code))),
        )

    def _resource(self, page: Page, common: Mapping[str, Refusal]) -> Resource:
        address = f"/docs/api/{page.slug}"
        return Resource(
            slug=page.slug,
            title=page.title,
            lead=page.lead,
            operations=tuple(self._operation(item, common) for item in self._of(page)),
            things=tuple(
                thing
                for thing in self.things.values()
                if thing.address.partition("#")[0] == address
            ),
        )

    def _of(self, page: Page) -> Sequence[_Described]:
        """The operations of a page: in the order of its nouns, what makes one first."""
        return [
            item
            for noun in page.nouns
            for item in sorted(self.described, key=_rank)
            if noun_of(item.id) == noun
        ]

    def _operation(self, item: _Described, common: Mapping[str, Refusal]) -> Operation:
        content = item.node.get("requestBody", {}).get("content", {}).get(_JSON)
        schema = self.kinds.resolve(content["schema"]) if content else {}
        body = self.kinds.of(content["schema"]) if content and schema.get("properties") else None
        examples = tuple(
            (name, json.loads(samples.without_ids(json.dumps(value))))
            for name, value in self._examples(content or {})
        )
        return Operation(
            id=item.id,
            method=item.method.upper(),
            path=item.path,
            title=item.node["summary"],
            description=item.node.get("description", ""),
            scope=next(iter(item.node["security"][0].values()))[0],
            is_deprecated=item.node.get("deprecated", False),
            parameters=tuple(self._parameters(item)),
            body=body,
            one_of=kinds.exclusive(schema),
            body_examples=tuple(_example(name, value) for name, value in examples) if body else (),
            answer=self._answer(item.node),
            refusals=tuple(one for one in self._refusals(item.node) if one.code not in common),
            samples=samples.samples(
                self._asked(item, examples[0][1] if body else None), base_url=self.base_url
            ),
        )

    def _asked(self, item: _Described, body: Mapping[str, Any] | None) -> samples.Asked:
        names = _PARAMETER.findall(item.path)
        values = {name: self._example_of(name, item) for name in names}
        slug = _NO_LETTERS.sub("-", item.node["summary"].lower())
        return samples.Asked(
            operation_id=item.id,
            method=item.method.upper(),
            template=item.path,
            values=values,
            body=body,
            idempotency_key=f"{slug}-1",
            is_list=self._answer(item.node).is_page,
        )

    def _example_of(self, name: str, item: _Described) -> str:
        """A value for a parameter of the path: a placeholder for the id of the object that it
        names, the first of its choices, or its example."""
        for parameter in item.node.get("parameters", ()):
            if parameter["name"] == name and "enum" in parameter["schema"]:
                return str(parameter["schema"]["enum"][0])
            if parameter["name"] == name and "examples" in parameter:
                return str(next(iter(parameter["examples"].values()))["value"])
        owner = next(
            one
            for one in self.described
            if one.method == "get"
            and one.path.endswith(f"/{{{name}}}")
            and "/sandbox/" not in one.path
        )
        content = owner.node["responses"]["200"]["content"][_JSON]
        _name, value = next(self._examples(content))
        return samples.without_ids(str(value["data"]["id"]))

    def _parameters(self, item: _Described) -> Iterator[Parameter]:
        places = ("path", "query")  # the idempotency key is described on the first page
        found = [self.kinds.resolve(one) for one in item.node.get("parameters", ())]
        for place in places:
            for one in found:
                if one["in"] == place:
                    yield self._parameter(one, item)

    def _parameter(self, one: Schema, item: _Described) -> Parameter:
        schema = {**one["schema"], "description": one.get("description", "")}
        is_list = schema.get("type") == "array"
        is_id = one["in"] == "path" and "enum" not in schema
        kind = self.kinds.of(schema["items"] | {"description": schema["description"]} if is_list
                             else schema, name=one["name"])  # fmt: skip
        return Parameter(
            name=one["name"],
            kind=kind,
            is_required=one.get("required", False),
            place=one["in"],
            placeholder=self._example_of(one["name"], item) if is_id else "",
            is_list=is_list,
        )

    def _answer(self, node: Schema) -> Answer:
        status = next(status for status in node["responses"] if status.startswith("2"))
        found = node["responses"][status]
        headers = tuple(name for name in found.get("headers", {}) if name not in _COMMON_HEADERS)
        content = found["content"].get(_JSON)
        if content is None:
            return Answer(status=status, thing=None, is_page=False, headers=headers, example="")
        component, is_page = self._data(content)
        _name, example = next(self._examples(content))
        if is_page:
            example = {**example, "data": example["data"][:1]}
        return Answer(
            status=status,
            thing=self.things[component],
            is_page=is_page,
            headers=headers,
            example=samples.pretty(example),
        )

    def _data(self, content: Schema) -> tuple[str, bool]:
        """The component in an answer's `data`, and whether there is a page of them."""
        data = self.kinds.resolve(content["schema"])["properties"]["data"]
        is_page = "items" in data
        return _component(data["items"] if is_page else data), is_page

    def _things(self) -> Iterator[tuple[str, Thing]]:
        """Each object at the first page of which an operation answers with it."""
        seen = set()
        for page in PAGES:
            for item in self._of(page):
                for name in self._answered(item.node):
                    if name not in seen:
                        seen.add(name)
                        yield name, self._thing(name, page)

    def _answered(self, node: Schema) -> Iterator[str]:
        for status, found in node["responses"].items():
            content = self.kinds.resolve(found).get("content", {}).get(_JSON)
            if status.startswith("2") and content:
                yield self._data(content)[0]

    def _thing(self, name: str, page: Page) -> Thing:
        title = _THINGS_IN_WORDS.get(name) or _CAPITAL.sub(r" \1", name).capitalize()
        return Thing(
            name=name,
            title=title,
            kind=self.kinds.of(self.tree["components"]["schemas"][name], name=name),
            address=f"/docs/api/{page.slug}#{name}",
        )

    def _examples(self, content: Schema) -> Iterator[tuple[str, Any]]:
        for name, found in content.get("examples", {}).items():
            yield name, self.kinds.resolve(found)["value"]

    def _refusals(self, node: Schema) -> Iterator[Refusal]:
        for status, found in node["responses"].items():
            content = self.kinds.resolve(found).get("content", {}).get(_PROBLEM, {})
            for code, example in content.get("examples", {}).items():
                title = self.kinds.resolve(example)["summary"]
                yield Refusal(status=status, code=code, title=title)

    def _common_refusals(self) -> Mapping[str, Refusal]:
        """Those that every operation has, by code."""
        each = [{one.code: one for one in self._refusals(item.node)} for item in self.described]
        everywhere = set.intersection(*(set(found) for found in each))
        return {code: refusal for code, refusal in each[0].items() if code in everywhere}

    def _headers(self) -> Iterator[tuple[str, str]]:
        for name, header in self.tree["components"]["headers"].items():
            yield name, header["description"]

    def _notices(self) -> tuple[Notice, ...]:
        return tuple(
            self._notice(name, item["post"]) for name, item in self.tree["webhooks"].items()
        )

    def _notice(self, name: str, node: Schema) -> Notice:
        content = node["requestBody"]["content"][_JSON]
        return Notice(
            name=name,
            title=node["summary"],
            kind=self.kinds.of(content["schema"]),
            examples=tuple(_example(name, value) for name, value in self._examples(content)),
        )


def _rank(item: _Described) -> int:
    """Make, list, read, act, download, remove."""
    if item.method == "delete":
        return 5
    if item.path.endswith(".csv"):
        return 4
    is_one = "{" in item.path
    return (2 if is_one else 1) if item.method == "get" else (3 if is_one else 0)


def _component(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _example(name: str, value: Any) -> Example:
    title = _EXAMPLES_IN_WORDS.get(name) or _CAPITAL.sub(r" \1", name).capitalize()
    return Example(name=title, text=samples.pretty(value))
