"""A schema of the document in words, with everything that it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.developers.docs.reference.parts import Kind, Member

Schema = Mapping[str, Any]

# Objects in objects below this depth are named without their fields: it bounds a page.
DEPTH_MAX = 4
_WORDS = {"integer": "integer", "number": "number", "boolean": "true or false", "object": "object"}
_FORMATS = {
    "date-time": "time",
    "date": "date",
    "email": "e-mail address",
    "uri": "URL",
    "ipv4": "IP address",
    "ipv6": "IP address",
}
_UNITS = {"Amount": "cents", "Balance": "cents", "Delta": "cents", "Threshold": "cents",
          "Ms": "milliseconds", "Seconds": "seconds"}  # fmt: skip
_CENTS = {"amount", "amounts", "monthlyLimit", "fundedThisMonth"}
_ALL_IN_CENTS = {"Allowance", "PerPayment", "PerTransaction"}
# What bounds no amount or text that anybody sends.
_BOUNDLESS = 10**14
_PATTERN_MAX = 40
_NOISE = {r"^[^\u0000]+$", r"^[^\u0000]*$", "^[A-Za-z0-9_:-]+$"}


@dataclass(frozen=True)
class _Flat:
    """A schema without references and alternatives, and whether it may be null."""

    node: Schema
    is_nullable: bool
    component: str = ""


@dataclass(frozen=True)
class Kinds:
    """Reads schemas of one document. Raises LookupError for a reference that leads nowhere."""

    root: Schema

    def of(self, schema: Schema, *, name: str = "", depth: int = 0) -> Kind:
        """`name` is the member that has this value: it tells the unit."""
        flat = self._flat(schema)
        node = flat.node
        description = str(node.get("description", ""))
        unit = _unit(name, description) if _type(node) == "integer" else ""
        inner = None
        if "items" in node:
            inner = self.of(node["items"], name=name, depth=depth)
        options = self._alternatives(schema, name, depth)
        if options:
            description = str(schema.get("description", ""))
        return Kind(
            words=self._words(node, inner, unit) + (" or null" if flat.is_nullable else ""),
            description=_without_unit(description, unit),
            rules=tuple(_rules(node)),
            choices=inner.choices if inner else _choices(node),
            members=() if options else inner.members if inner else self._members(flat, depth),
            options=options,
        )

    def resolve(self, node: Schema) -> Schema:
        """What a `$ref` stands for; anything else is itself."""
        if "$ref" not in node:
            return node
        found: Any = self.root
        for word in str(node["$ref"]).removeprefix("#/").split("/"):
            found = found[word]
        return self.resolve(found)

    def _alternatives(self, schema: Schema, name: str, depth: int) -> tuple[Kind, ...]:
        """The objects of which the value is one; none where there is no choice between objects."""
        options = _options(self.resolve(schema))
        objects = [option for option in options if "properties" in self.resolve(option)]
        if len(objects) < 2:
            return ()
        return tuple(self.of(option, name=name, depth=depth) for option in objects)

    def _members(self, flat: _Flat, depth: int) -> tuple[Member, ...]:
        if depth >= DEPTH_MAX:
            return ()
        required = set(flat.node.get("required", ()))
        return tuple(
            Member(
                name=name,
                kind=self.of(schema, name=_named(name, flat.component), depth=depth + 1),
                is_required=name in required,
            )
            for name, schema in flat.node.get("properties", {}).items()
        )

    def _words(self, node: Schema, inner: Kind | None, unit: str) -> str:
        if inner is not None:
            return f"list of {_plural(inner.words)}"
        kind = _type(node)
        if kind == "string":
            return _FORMATS.get(node.get("format", ""), "string")
        if kind == "object" and "properties" not in node:
            return "object of your own keys" if "maxProperties" in node else "object"
        return f"{_WORDS[kind]}, {unit}" if unit else _WORDS[kind]

    def _flat(self, schema: Schema) -> _Flat:
        """Follow references and take alternatives together; what is said beside them counts."""
        own = {key: value for key, value in schema.items() if key not in _COMPOSING}
        component = str(schema.get("$ref", "")).rpartition("/")[2]
        parts = [self._flat(part) for part in self._parts(schema)]
        options = [self._flat(part) for part in _options(schema)]
        options = [part for part in options if not _is_null(part.node)]
        is_nullable = any(_is_null(self.resolve(part)) for part in _options(schema))
        node: dict[str, Any] = {}
        for part in [*parts, *_joined(options)]:
            node |= part.node
            component = component or part.component
            is_nullable = is_nullable or part.is_nullable
        node |= own
        types = node.get("type")
        if isinstance(types, list):
            is_nullable = is_nullable or "null" in types
            node["type"] = next(item for item in types if item != "null")
        return _Flat(node=node, is_nullable=is_nullable, component=component)

    def _parts(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            yield self.resolve(schema)
        yield from schema.get("allOf", ())


_COMPOSING = {"$ref", "allOf", "oneOf", "anyOf"}


def _options(schema: Schema) -> Sequence[Schema]:
    """The alternatives that say what a value is, and not only which fields go together."""
    options = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    return [option for option in options if "required" not in option or "type" in option]


def _joined(options: Sequence[_Flat]) -> Sequence[_Flat]:
    """Alternatives as one: lists of names are joined, of texts the one that says most counts."""
    if not options or "items" not in options[0].node:
        return options[:1]
    names = [name for option in options for name in _choices(option.node["items"])]
    first = options[0].node
    items = {**first["items"], "enum": names}
    return [_Flat(node={**first, "items": items}, is_nullable=False)]


def exclusive(schema: Schema) -> tuple[str, ...]:
    """Fields of which a request has exactly one, as `oneOf` with `required` says."""
    options = [option for option in schema.get("oneOf", ()) if "type" not in option]
    return tuple(name for option in options for name in option.get("required", ()))


def _is_null(node: Schema) -> bool:
    return node.get("type") == "null" or node.get("enum") == [None]


def _type(node: Schema) -> str:
    """The type; a document that leaves it out means an object, or the text of its choices."""
    return str(node.get("type") or ("object" if "properties" in node else "string"))


def _choices(node: Schema) -> tuple[str, ...]:
    values = [node["const"]] if "const" in node else node.get("enum", ())
    return tuple(str(value) for value in values if value is not None)


def _named(name: str, component: str) -> str:
    return "amount" if component in _ALL_IN_CENTS else name


def _unit(name: str, description: str) -> str:
    if name in _CENTS or description.startswith("Cents"):
        return "cents"
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")


def _without_unit(description: str, unit: str) -> str:
    """`Cents. A larger amount waits` says the unit twice beside "integer, cents"."""
    if unit != "cents" or not description.startswith("Cents."):
        return description
    return description.removeprefix("Cents.").lstrip()


def _plural(words: str) -> str:
    first, comma, rest = words.partition(",")
    if first == "true or false":
        return words
    return f"{first}es{comma}{rest}" if first.endswith("s") else f"{first}s{comma}{rest}"


def _rules(node: Schema) -> Iterator[str]:
    if _type(node) == "integer":
        yield from _span(node.get("minimum"), node.get("maximum"), "")
    if _type(node) == "string":
        low = node.get("minLength", 0)
        yield from _span(low if low > 1 else None, node.get("maxLength"), "characters")
    yield from _span(node.get("minItems"), node.get("maxItems"), "values")
    yield from _span(None, node.get("maxProperties"), "keys")
    if node.get("uniqueItems"):
        yield "each once"
    pattern = node.get("pattern", "")
    is_described = bool(node.get("description"))
    if pattern and not is_described and len(pattern) <= _PATTERN_MAX and pattern not in _NOISE:
        yield f"matches `{pattern}`"
    if node.get("default") not in (None, ""):
        yield f"`{_literal(node['default'])}` unless given"


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _span(low: int | None, high: int | None, noun: str) -> Iterator[str]:
    if high is not None and high >= _BOUNDLESS:
        high = None
    if low is None and high is None:
        return
    if low == high:
        text = f"exactly {low}"
    elif low is None:
        text = f"at most {high}"
    elif high is None:
        text = f"at least {low}"
    else:
        text = f"{low} to {high}"
    is_one = max(low or 0, high or 0) == 1
    yield f"{text} {noun.removesuffix('s') if is_one else noun}".strip()
