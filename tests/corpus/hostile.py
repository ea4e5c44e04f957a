"""Classes of hostile requests, made for any operation of the document."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Request:
    """What is sent; `why` names the class. `must_refuse`: no 2xx will do."""

    why: str
    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"
    must_refuse: bool = False


NOT_IDS = {
    "malformed id": "0",
    "null": "null",
    "percent-encoded NUL": "\0",
    "not UTF-8": "%FF",
    "fullwidth digits": "ftx_\uff10\uff11",
    "right-to-left override": "ftx_\u202e01",
    "zero-width": "ftx_\u200b01",
    "overlong": "x" * 5_000,
    "SQL": "' OR '1'='1",
    "template": "{{7*7}}",
    "dots": "..",
    "format string": "%s%n",
    "line break": "a\r\nSet-Cookie: a=b",
}
QUERIES = {
    "unknown parameter": "ammount=1",
    "NUL": "%00=%00",
    "limit 0": "limit=0",
    "limit 101": "limit=101",
    "limit as float": "limit=1e1",
    "limit in Arabic digits": "limit=%D9%A1",
    "limit twice": "limit=1&limit=2",
    "forged cursor": "cursor=eyJhIjoxfQ:1vM2xk:kq0gq2cTtXn3o5n7m9b1",
    "empty cursor": "cursor=",
    "cursor of bytes": "cursor=%FF%FE",
    "array": "limit[]=1",
    "date without offset": "createdAfter=2026-11-20T15:00:00",
    "year 0": "createdAfter=0000-01-01T00:00:00Z",
    "year 9999": "createdBefore=9999-12-31T23:59:59-14:00",
    "huge amount": "minAmount=" + "9" * 40,
    "signed amount": "maxAmount=-1",
    "unknown choice": "status=%F0%9F%92%A9&type=x",
}
HEADERS: dict[str, dict[str, str]] = {
    "empty idempotency key": {"Idempotency-Key": ""},
    "overlong idempotency key": {"Idempotency-Key": "k" * 256},
    "idempotency key that is not ASCII": {"Idempotency-Key": "schlüssel"},
    "idempotency key with a line break": {"Idempotency-Key": "a\nb"},
    "request id with a line break": {"X-Request-Id": "a\r\nX-Evil: 1"},
    "overlong request id": {"X-Request-Id": "a" * 200},
    "method override": {"X-HTTP-Method-Override": "DELETE"},
    "accept HTML": {"Accept": "text/html"},
    "accept nothing": {"Accept": "image/png;q=0"},
    "range": {"Range": "bytes=0-1"},
    "precondition": {"If-Match": '"x"', "If-None-Match": "*", "If-Modified-Since": "yesterday"},
    "forwarded": {"X-Forwarded-For": "'; DROP TABLE", "X-Forwarded-Host": "evil.example"},
    "large header": {"X-Large": "x" * 9_000},
    "language": {"Accept-Language": "de;q=x"},
}
NO_AUTH: dict[str, dict[str, str]] = {
    "no key": {"Authorization": ""},
    "basic": {"Authorization": "Basic YTpi"},
    "two words": {"Authorization": "Bearer a b"},
    "unknown key": {"Authorization": "Bearer bal_test_" + "0" * 48},
    "NUL in key": {"Authorization": "Bearer \0"},
    "key that is not ASCII": {"Authorization": "Bearer ключ"},
    "session instead": {"Authorization": "", "Cookie": "sessionid=1; csrftoken=2"},
}
TYPES = {
    "text": "text/plain",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data; boundary=x",
    "XML": "application/xml",
    "UTF-16": "application/json; charset=utf-16",
    "nonsense": "json",
}
BODIES = {
    "null": b"null",
    "array": b"[]",
    "string": b'"x"',
    "number": b"1",
    "unfinished": b'{"a":',
    "two objects": b"{}{}",
    "comment": b"{/**/}",
    "single quotes": b"{'a': 1}",
    "NaN": b'{"amount": NaN}',
    "Infinity": b'{"amount": -Infinity}',
    "not UTF-8": b'{"a": "\xff"}',
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NUL": b'{"\\u0000": "\\u0000"}',
    "lone surrogate": b'{"a": "\\ud800"}',
    "deep": b'{"a":' * 1_000 + b"1" + b"}" * 1_000,
    "wide": b'{"a": "' + b"x" * 70_000 + b'"}',
    "long number": b'{"amount": ' + b"9" * 5_000 + b"}",
    "gzip": gzip.compress(b"{}"),
    "unknown field": b'{"__proto__": {"isAdmin": true}}',
}
VALUES: dict[str, Any] = {
    "null": None,
    "bool": True,
    "empty": "",
    "blank": " ",
    "array": [],
    "object": {},
    "negative": -1,
    "zero": 0,
    "float": 1.5,
    "text number": "100",
    "huge": 10**30,
    "zero-width": "a\u200bb",
    "bidi": "a\u202eb",
    "line break": "a\nb",
    "markup": "<script>alert(1)</script>",
    "formula": "=1+1",
    "long": "x" * 5_000,
    "nested": [[[["x"]]]],
}


def of_path(plain: Request, parameters: list[str], foreign: list[str]) -> Iterator[Request]:
    """Other forms of the path, and ids that are not ours. `plain.path` has `{parameters}`."""
    target = plain.path
    yield replace(plain, why="trailing slash", path=target + "/")
    yield replace(plain, why="doubled slash", path=target.replace("/v1/", "/v1//"))
    yield replace(plain, why="upper case", path=target.upper().replace("/API/V1", "/api/v1"))
    yield replace(plain, why="dots", path=target.replace("/v1/", "/v1/x/../"))
    yield replace(plain, why="semicolon", path=target + ";a=b")
    yield replace(plain, why="NUL", path=target + "\0")
    if parameters:
        for why, value in NOT_IDS.items():
            yield replace(plain, why=f"id: {why}", path=_filled(target, parameters, value))
        for value in foreign:
            why = f"id of another tenant or kind: {value[:4]}"
            path = _filled(target, parameters, value)
            yield replace(plain, why=why, path=path, must_refuse=True)


def _filled(target: str, parameters: list[str], value: str) -> str:
    for name in parameters:
        target = target.replace("{" + name + "}", value)
    return target


def of_query(plain: Request) -> Iterator[Request]:
    for why, query in QUERIES.items():
        yield replace(plain, why=f"query: {why}", query=query)


def of_headers(plain: Request) -> Iterator[Request]:
    for why, headers in HEADERS.items():
        yield replace(plain, why=why, headers=headers)
    for why, headers in NO_AUTH.items():
        yield replace(plain, why=why, headers=headers, must_refuse=True)


def of_method(plain: Request) -> Iterator[Request]:
    for method in ("PUT", "OPTIONS", "TRACE", "PROPFIND", "get", "HEAD"):
        yield replace(plain, why=f"method {method}", method=method)


def of_body(plain: Request, valid: dict[str, Any]) -> Iterator[Request]:
    """Bodies of a wrong form, then the valid one with one field wrong at a time."""
    for why, body in BODIES.items():
        yield replace(plain, why=f"body: {why}", body=body, must_refuse=True)
    text = json.dumps(valid).encode()
    for why, kind in TYPES.items():
        yield replace(plain, why=f"type: {why}", body=text, content_type=kind, must_refuse=True)
    for name in valid:
        double = text[:-1] + b", " + json.dumps({name: valid[name]}).encode()[1:]
        yield replace(plain, why=f"{name} twice", body=double, must_refuse=True)
        for why, value in VALUES.items():
            body = json.dumps({**valid, name: value}).encode()
            yield replace(plain, why=f"{name}: {why}", body=body)
