"""An operation as a program: curl, Python, TypeScript.

With a key, a sample runs as it is, unless it needs something that the reader has to have first: the
id of that is a placeholder, such as `pay_…`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from dashboard.developers.docs.reference.python_calls import CALLS, PythonCall, arguments

# Where the reader's key goes: the script of the page puts it there (static/js/reference.js).
KEY = "bal_test_…"
_WIDTH = 80
_TYPESCRIPT_ROOT = "/api/v1"  # the client for TypeScript has it before every path
_ID = re.compile(r"\b([a-z]+)_[0-9a-z]{26}\b")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request to show. `template` is the documented path, `values` are placeholders or choices
    for its parameters, `body` is the first example, None where there is nothing to say."""

    operation_id: str
    method: str
    template: str
    values: Mapping[str, str]
    body: Mapping[str, Any] | None
    idempotency_key: str
    is_list: bool

    @property
    def path(self) -> str:
        return self.template.format_map(self.values)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """`body` is the part of `text` that the reader may change before a try."""

    language: str
    text: str
    body: str = ""

    @property
    def html(self) -> SafeString:
        """Escaped, with marks where the key and the body are. Quotes need none between tags."""
        code = escape(self.text, quote=False)
        if self.body:
            body = escape(self.body, quote=False)
            code = code.replace(body, f"<span data-body>{body}</span>", 1)
        return mark_safe(code.replace(KEY, f"<span data-key>{KEY}</span>"))  # noqa: S308  # escaped


def samples(asked: Asked, *, base_url: str) -> tuple[Sample, ...]:
    return (
        _curl(asked, base_url),
        Sample(language="python", text=_python(asked, base_url)),
        Sample(language="typescript", text=_typescript(asked, base_url)),
    )


def without_ids(text: str) -> str:
    """`text` with a placeholder for each example id: nobody has these, so they answer 404."""
    return _ID.sub(r"\1_…", text)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _curl(asked: Asked, base_url: str) -> Sample:
    body = "" if asked.body is None else pretty(asked.body).replace("'", "'\\''")
    is_plain = asked.method == ("POST" if body else "GET")
    start = "curl" if is_plain else f"curl -X {asked.method}"
    lines = [f"{start} {base_url}{asked.path}", f'-H "Authorization: Bearer {KEY}"']
    if body:
        lines.append('-H "Content-Type: application/json"')
    if asked.method != "GET":
        lines.append(f'-H "Idempotency-Key: {asked.idempotency_key}"')
    if body:
        lines.append(f"-d '{body}'")
    return Sample(language="curl", text=" \\\n  ".join(lines), body=body)


def _typescript(asked: Asked, base_url: str) -> str:
    lines = [
        'import { Ballast } from "ballast-client";',
        "",
        f'const ballast = new Ballast("{KEY}", {{ baseUrl: "{base_url}" }});',
        "",
    ]
    given = f'("{asked.template.removeprefix(_TYPESCRIPT_ROOT)}"{_typescript_options(asked)})'
    if asked.is_list:
        return "\n".join(
            [*lines, f"for await (const row of ballast.each{given}) console.log(row);"]
        )
    method = "download" if asked.template.endswith(".csv") else asked.method.lower()
    return "\n".join([*lines, f"console.log(await ballast.{method}{given});"])


def _typescript_options(asked: Asked) -> str:
    """The second argument with what stands before it; empty where the call needs none."""
    options = []
    if asked.values:
        named = ", ".join(f"{name}: {_text(value)}" for name, value in asked.values.items())
        options.append(f"params: {{ path: {{ {named} }} }},")
    if asked.body is not None:
        options.append(f"body: {pretty(asked.body)},")
    if asked.method != "GET":
        options.append(f'idempotencyKey: "{asked.idempotency_key}",')
    inner = "".join(f"  {_indented(option, 2)}\n" for option in options)
    return f", {{\n{inner}}}" if options else ""


def _python(asked: Asked, base_url: str) -> str:
    call = CALLS.get(asked.operation_id)
    return _httpx(asked, base_url) if call is None else _client(asked, call, base_url)


def _httpx(asked: Asked, base_url: str) -> str:
    """For what the client has no function for: downloads."""
    return "\n".join(
        (
            "import httpx",
            "",
            "response = httpx.get(",
            f'    "{base_url}{asked.path}",',
            f'    headers={{"Authorization": "Bearer {KEY}"}},',
            ")",
            "response.raise_for_status()",
            "print(response.text)",
        )
    )


def _client(asked: Asked, call: PythonCall, base_url: str) -> str:
    first, named = arguments(call, asked.body or {})
    given = [_literal(value) for value in (*asked.values.values(), *first)]
    given += [f"{name}={_literal(value)}" for name, value in named.items()]
    if call.takes_key:
        given.append(f'idempotency_key="{asked.idempotency_key}"')
    request = _called(f"calls.{call.function}", given)
    lines = [
        "from ballast_client import Ballast, calls",
        "",
        f'with Ballast("{KEY}", base_url="{base_url}") as ballast:',
    ]
    if asked.is_list:
        return "\n".join([*lines, f"    for row in ballast.each({request}):", "        print(row)"])
    return "\n".join([*lines, f"    print(ballast.send({_indented(request, 4)}))"])


def _called(function: str, given: list[str]) -> str:
    line = f"{function}({', '.join(given)})"
    if len(line) < _WIDTH - 30 and "\n" not in line:
        return line
    inner = "".join(f"    {_indented(item, 4)},\n" for item in given)
    return f"{function}(\n{inner})"


def _literal(value: Any) -> str:
    """A value of JSON as Python writes it, with double quotes."""
    if isinstance(value, Mapping):
        inner = "".join(f"    {_text(k)}: {_indented(_literal(v), 4)},\n" for k, v in value.items())
        return f"{{\n{inner}}}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(text: str, columns: int) -> str:
    """`text` whose further lines begin so many columns to the right."""
    return ("\n" + " " * columns).join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    yield from text.split("\n")
