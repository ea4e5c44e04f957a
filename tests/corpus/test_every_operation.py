"""Every operation of the document against every class of hostile request.

Nothing may break, nothing may be half done, and every refusal is a problem of the reference.
"""

from __future__ import annotations

import json
from itertools import islice
from zlib import crc32

import pytest
from django.db import connection
from django.test import Client

from common.errors import DomainError
from tests.api.test_openapi import with_real_ids
from tests.builders import make_tenant
from tests.corpus import hostile
from tests.corpus.hostile import Request
from tests.document import examples, operations
from tests.fuzz.tenant import stock

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.timeout(600)]

PROBLEM = "application/problem+json"
# Everything a refusal could have half done. Not what it may leave: idempotency and request records.
TABLES = (
    "balance",
    "balance_transaction",
    "funding_fundingsource",
    "funding_fundingtransaction",
    "funding_autofundingconfig",
    "payments_payment",
    "payments_recipient",
    "webhooks_webhookendpoint",
    "webhooks_webhookdelivery",
    "webhooks_webhookevent",
    "tenants_auditevent",
)
STATE = "SELECT " + ", ".join(
    f"(SELECT md5(string_agg(row::text, '' ORDER BY row::text)) FROM {table} AS row)"
    for table in TABLES
)
OPERATIONS = [pytest.param(*item, id=item[2]["operationId"]) for item in operations()]
SECRET_NUMBER = "000123456789"
# Of each operation's requests CI sends each third, from another first one in each: over all
# operations every class comes. `./run test --nightly tests/corpus` sends all.
EVERY = 3


def state():
    with connection.cursor() as cursor:
        cursor.execute(STATE)
        return cursor.fetchone()


def send(client, key, request: Request):
    headers = {"Authorization": f"Bearer {key}", **request.headers}
    return client.generic(
        request.method,
        request.path,
        data=request.body,
        content_type=request.content_type,
        QUERY_STRING=request.query,
        **{"HTTP_" + name.upper().replace("-", "_"): text for name, text in headers.items()},
    )


def fault(request: Request, response, before, after) -> str | None:
    """What is wrong with an answer, or None."""
    body = b"".join(response) if response.streaming else response.content
    kind = response.headers.get("Content-Type", "")
    if response.status_code >= 500:
        return f"{response.status_code}"
    if "html" in kind or b"Traceback" in body or b'File "' in body:
        return f"{kind}: {body[:80]!r}"
    if SECRET_NUMBER.encode() in body:
        return "shows an account number"
    if response.status_code < 400:
        return f"accepted with {response.status_code}" if request.must_refuse else None
    if before != after:
        return f"{response.status_code}, but something changed"
    if not kind.startswith(PROBLEM):
        return f"{response.status_code} is {kind}"
    if request.method != "HEAD" and json.loads(body)["code"] not in DomainError.registry:
        return f"{body[:80]!r} has no code of the reference"
    return None


def hostile_requests(plain: Request, operation, made, foreign):
    """All of them for one operation, whose own path, query and body are right in each but one."""
    names = [item["name"] for item in operation.get("parameters", []) if item["in"] == "path"]
    ids = [name for name in names if name != "name"]
    filled = plain.path.format(**{**made.ids, "name": "advance"})
    right = Request(why="", method=plain.method, path=filled, body=plain.body)
    template = Request(
        why="",
        method=plain.method,
        path=plain.path.replace("{name}", "advance"),
        body=plain.body,
    )
    for request in hostile.of_path(template, ids, foreign):
        path = request.path
        for name in ids:
            path = path.replace("{" + name + "}", made.ids[name])
        yield Request(**{**vars(request), "path": path})
    yield from hostile.of_query(right)
    yield from hostile.of_headers(right)
    yield from hostile.of_method(right)
    if plain.body:
        yield from hostile.of_body(right, json.loads(plain.body))


def first_example(operation, made):
    if "requestBody" not in operation:
        return b""
    content = operation["requestBody"]["content"]["application/json"]
    (value, *_) = examples(content).values()
    return json.dumps(with_real_ids(value, made.ids)).encode()


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_nothing_breaks_and_nothing_is_half_done(request, settings, path, method, operation):
    nightly = request.config.getoption("--nightly")
    first, every = (0, 1) if nightly else (crc32(operation["operationId"].encode()) % EVERY, EVERY)
    settings.WEBHOOK_ALLOW_HTTP = True
    made, rival = stock(), stock(make_tenant(name="Rival"))
    foreign = [*rival.ids.values()]
    own = [item["name"] for item in operation.get("parameters", []) if item["in"] == "path"]
    foreign += [
        value for name, value in made.ids.items() if name not in own and "spare" not in name
    ]
    foreign = [value for value in foreign if "_" in value]
    plain = Request(why="", method=method.upper(), path=path, body=first_example(operation, made))
    client = Client(raise_request_exception=False)

    found, sent, before = [], 0, state()
    for sample in islice(hostile_requests(plain, operation, made, foreign), first, None, every):
        response = send(client, made.key, sample)
        sent, after = sent + 1, state()
        if reason := fault(sample, response, before, after):
            found.append(f"{sample.why}: {reason}")
        before = after

    assert sent > 40 // every
    assert not found, "\n".join(found)


def test_every_operation_refuses_parameters_it_does_not_know(settings):
    """Also single reads and writes: an ignored `?at=` or `?dryRun=` would be answered wrongly."""
    settings.WEBHOOK_ALLOW_HTTP = True
    made = stock()
    client, before = Client(raise_request_exception=False), state()

    answers = {}
    for path, method, operation in operations():
        filled = path.format(**{**made.ids, "name": "advance"})
        body = first_example(operation, made)
        request = Request(
            why="", method=method.upper(), path=filled, query="at=2026-11-01T00:00:00Z", body=body
        )
        response = send(client, made.key, request)
        answers[operation["operationId"]] = (response.status_code, codes(response))

    assert set(answers.values()) == {(400, ("unknown_parameter", "at"))}
    assert state() == before


def codes(response):
    """The first error's code and field."""
    errors = json.loads(response.content).get("errors") or [{}]
    return errors[0].get("code"), errors[0].get("field")
