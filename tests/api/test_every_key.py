"""Every operation of the document, for every key that somebody might hold.

The document is the list of operations. What names a thing (a part of a path, of a body, of a query)
is in `IDS` or `FIELDS` below: an operation that names something else fails the first test.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from common import ids
from common.clock import utc_now
from tenants import key_text, scopes
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Mode, User
from tenants.services import keys
from tests.api.test_openapi import with_real_ids
from tests.builders import browser_of, make_key, make_member, make_tenant
from tests.database import digest
from tests.document import examples, load, operations, resolve
from tests.fuzz.tenant import Stocked, stock

pytestmark = pytest.mark.django_db

# Of path parameters: by name, what `tests.fuzz.tenant` has of it. `name` is the step of a sandbox.
IDS = {
    "source_id",
    "funding_id",
    "payment_id",
    "recipient_id",
    "endpoint_id",
    "transaction_id",
    "event_id",
    "delivery_id",
    "day",
}
NO_IDS = {"name"}
# Of bodies and queries: whose id it is, by the field's name.
FIELDS: dict[str, str] = {
    "fundingSourceId": "source_id",
    "recipientId": "recipient_id",
    "sourceId": "funding_id",
    "paymentId": "funding_id",
}
NOT_OURS = {"linkAccountId"}  # the provider's, together with a token of its own
# A GET that hands out a link with which somebody approves, so it needs what approves.
READS_THAT_NEED_MORE = {"sandbox_confirmation", "sandboxPayment_confirmation"}
# What every request may write, refused or not: when its key was used last.
BESIDE = {"tenants_apikey"}
DECISIONS = "/api/v1/balance/auto-funding/decisions"  # a list of which the stock has less than two
REQUEST_ID = "the-same-for-both"

ALL = [(path, method, operation) for path, method, operation in operations()]


def named(operation, place: str) -> set[str]:
    return {item["name"] for item in operation.get("parameters", []) if item["in"] == place}


def fields_of(operation) -> set[str]:
    """Fields of the body, and parameters of the query, whose names say that they hold an id."""
    names = named(operation, "query")
    if "requestBody" in operation:
        names |= set(_body(operation)["properties"])
    return {name for name in names if name.endswith("Id")}


def _body(operation):
    content = operation["requestBody"]["content"]["application/json"]
    return {"properties": {}} | resolve(content["schema"])


def body_of(operation, own: dict[str, str]) -> dict[str, object] | None:
    """A right one, which names things of `own`."""
    if "requestBody" not in operation:
        return None
    content = operation["requestBody"]["content"]["application/json"]
    found: dict[str, object] = with_real_ids(next(iter(examples(content).values())), own)
    return found


def filled(path: str, own: dict[str, str]) -> str:
    return path.format(**{**own, "name": "advance"})


def send(key: str | None, method: str, path: str, body=None, query="", client=None, **extra):
    """Status and bytes of the answer; a request id of ours makes those of two comparable."""
    client = client or Client(raise_request_exception=False)
    headers = {"X-Request-Id": REQUEST_ID}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    text = b"" if body is None else json.dumps(body).encode()
    answer = client.generic(
        method.upper(),
        path,
        text,
        content_type="application/json",
        QUERY_STRING=query,
        headers=headers,
        **extra,
    )
    return answer.status_code, b"".join(answer) if answer.streaming else answer.content


def code(answer: tuple[int, bytes]) -> tuple[int, str | None]:
    status, text = answer
    return status, json.loads(text)["code"] if status >= 400 else None


def made_up(own: dict[str, str]) -> dict[str, str]:
    """An id of the same kind for each, of nothing."""
    return {
        name: ids.new(value.partition("_")[0]) if "_" in value else value
        for name, value in own.items()
    }


@pytest.fixture
def made(acme, settings) -> Stocked:
    settings.WEBHOOK_ALLOW_HTTP = True
    return stock(acme)


class TestTheTables:
    def test_know_every_id_that_an_operation_takes(self):
        in_paths = {name for _, _, operation in ALL for name in named(operation, "path")}
        in_fields = {name for _, _, operation in ALL for name in fields_of(operation)}

        assert in_paths == IDS | NO_IDS, (
            "add what is new to IDS, and an id of it to tests/fuzz/tenant.py, so that another "
            "tenant's is tried"
        )
        assert in_fields == FIELDS.keys() | NOT_OURS, "say in FIELDS whose id this is"

    def test_cover_every_address_of_the_api(self):
        """An address that is not in the document would be tried by nothing here."""
        (api,) = (
            item
            for item in get_resolver("config.urls").url_patterns
            if isinstance(item, URLResolver) and str(item.pattern) == "api/v1/"
        )
        routes = {
            "/api/v1/" + re.sub(r"<str:(\w+)>", r"{\1}", str(item.pattern))
            for item in api.url_patterns
        }

        assert routes == set(load()["paths"]), "run ./run manage openapi"


def refused_keys(tenant) -> dict[str, tuple[str | None, tuple[int, str]]]:
    """What is presented, and how it is answered, whatever is asked for."""
    now = utc_now()
    revoked = keys.issue(tenant=tenant, name="Old", actor=SYSTEM, now=now)
    keys.revoke(key_id=revoked.key.pk, actor=SYSTEM, now=now)
    expired = keys.issue(
        tenant=tenant, name="Old", actor=SYSTEM, now=now, expires_at=now + timedelta(hours=1)
    )
    ApiKey.objects.filter(pk=expired.key.pk).update(expires_at=now)
    right = make_key(tenant)
    invalid = (401, "invalid_token")
    return {
        "no key": (None, (401, "not_authenticated")),
        "a wrong checksum": (right[:-1] + ("0" if right[-1] != "0" else "1"), invalid),
        "never issued": (key_text.new(Mode.SANDBOX), invalid),
        "that of a live tenant, never issued": (key_text.new(Mode.LIVE), invalid),
        "revoked": (revoked.text, invalid),
        "expired": (expired.text, invalid),
        "from a network that is not the key's": (
            make_key(tenant, allowed_networks=["203.0.113.0/24"]),
            (403, "address_not_allowed"),
        ),
    }


class TestAKeyThatIsNone:
    def test_opens_no_operation(self, acme, made):
        presented = refused_keys(acme)

        with digest.unchanged(apart_from=BESIDE):
            answers = {
                (why, operation["operationId"]): (
                    code(send(key, method, filled(path, made.ids), body_of(operation, made.ids))),
                    expected,
                )
                for path, method, operation in ALL
                for why, (key, expected) in presented.items()
            }

        assert {at: got for at, (got, expected) in answers.items() if got != expected} == {}

    def test_is_told_the_same_everywhere(self, acme, made):
        """Whether the thing exists or not, and whatever was to be done with it."""
        for why, (key, _) in refused_keys(acme).items():
            told = {
                send(key, method, filled(path, own), body_of(operation, own))
                for path, method, operation in ALL
                for own in (made.ids, made_up(made.ids))
            }
            assert len(told) == 1, why

    def test_is_no_session_either(self, acme, made):
        staff = User.objects.create_superuser(email="sam@ballast.example")
        browsers = [browser_of(make_member(acme, email="dana@acme.example")), browser_of(staff)]

        with digest.unchanged():
            answers = {
                code(
                    send(
                        None,
                        method,
                        filled(path, made.ids),
                        body_of(operation, made.ids),
                        client=browser,
                    )
                )
                for browser in browsers
                for path, method, operation in ALL
            }

        assert answers == {(401, "not_authenticated")}


@pytest.fixture(params=[Mode.SANDBOX, Mode.LIVE])
def foreign(request) -> str:
    """A key with every scope of a tenant that has nothing."""
    return make_key(make_tenant(name="Rival", mode=request.param))


class TestAnotherTenantsKey:
    def test_gets_the_same_answer_for_a_thing_of_ours_and_for_none(self, made, foreign):
        of_nothing = made_up(made.ids)

        with digest.unchanged(apart_from=BESIDE):
            for path, method, operation in ALL:
                if not named(operation, "path") & IDS:
                    continue
                body = body_of(operation, {})
                ours = send(foreign, method, filled(path, made.ids), body)
                nothing = send(foreign, method, filled(path, of_nothing), body)

                assert ours[0] == 404, operation["operationId"]
                assert ours == nothing, operation["operationId"]

    def test_names_our_things_in_no_body(self, made):
        """Right but for one id. The rival has money and a bank account: nothing else is wrong."""
        rival, of_nothing = stock(make_tenant(name="Rival")), made_up(made.ids)
        tried = [
            (path, method, field, FIELDS[field] or "", _naming(operation, field, rival.ids))
            for path, method, operation in ALL
            if "requestBody" in operation
            for field in fields_of(operation) - NOT_OURS
        ]

        with digest.unchanged(apart_from=BESIDE):
            for path, method, field, kind, right in tried:
                ours, nothing = (
                    send(rival.key, method, path, right | {field: own[kind]})
                    for own in (made.ids, of_nothing)
                )
                assert ours[0] == 404, (path, field)
                assert ours == nothing, (path, field)

        assert {field for _, _, field, _, _ in tried} == {"fundingSourceId", "recipientId"}

    def test_finds_nothing_by_our_ids(self, made, foreign):
        of_nothing = made_up(made.ids)

        for path, method, operation in ALL:
            if named(operation, "path"):
                continue
            for field in named(operation, "query") & set(FIELDS):
                kind = FIELDS[field] or ""
                ours = send(foreign, method, path, query=f"{field}={made.ids[kind]}")
                nothing = send(foreign, method, path, query=f"{field}={of_nothing[kind]}")

                assert ours[0] == 200, (operation["operationId"], field)
                assert ours == nothing, (operation["operationId"], field)

    def test_reads_nothing_of_ours(self, acme, made, foreign):
        words = [acme.pk, acme.name, *(value for value in made.ids.values() if "_" in value)]

        for path, method, operation in ALL:
            if method == "get" and not named(operation, "path"):
                status, text = send(foreign, method, path)
                assert status == 200
                assert [word for word in words if word.encode() in text] == [], path

    def test_goes_on_with_no_page_of_ours(self, made, foreign):
        lists = [path for path, _, item in ALL if "cursor" in named(item, "query")]
        for path in lists:
            ours = filled(path, made.ids)
            cursor = json.loads(send(made.key, "get", ours, query="limit=1")[1])["nextCursor"]
            expected = (404, "not_found") if "{" in path else (400, "invalid_cursor")
            assert cursor or path == DECISIONS
            if cursor:
                assert code(send(foreign, "get", ours, query=f"cursor={cursor}")) == expected, path


def _naming(operation, field, own):
    """The example that has this field, or else the first one with it."""
    content = operation["requestBody"]["content"]["application/json"]
    bodies = [with_real_ids(value, own) for value in examples(content).values()]
    return next((body for body in bodies if field in body), bodies[0])


class TestAKeyOfALiveTenant:
    def test_finds_no_sandbox(self):
        live = make_tenant(name="Live", mode=Mode.LIVE)
        key, own = make_key(live), dict.fromkeys(IDS, ids.new("ftx"))
        sandbox = [item for item in ALL if item[0].startswith("/api/v1/sandbox/")]

        with digest.unchanged(apart_from=BESIDE):
            answers = {code(send(key, method, filled(path, own))) for path, method, _ in sandbox}

        assert len(sandbox) > 4
        assert answers == {(404, "not_found")}


class TestAKeyOfOneScope:
    def test_opens_what_is_that_scopes_and_nothing_else(self):
        """Bodies are wrong, ids made up and the tenant is live, without the sandbox's helpers: so
        what a scope opens changes nothing either."""
        live, own = make_tenant(mode=Mode.LIVE), dict.fromkeys(IDS, ids.new("ftx"))
        keys_by_scope = {scope: make_key(live, scopes=[scope]) for scope in scopes.ALL}
        opened: dict[str, list[str]] = {}

        with digest.unchanged(apart_from=BESIDE):
            for path, method, operation in ALL:
                answers = {
                    scope: send(key, method, filled(path, own), body=[])
                    for scope, key in keys_by_scope.items()
                }
                refused = {
                    scope: json.loads(answer[1])["requiredScope"]
                    for scope, answer in answers.items()
                    if code(answer) == (403, "insufficient_scope")
                }
                opened[operation["operationId"]] = [*(answers.keys() - refused.keys())]
                assert set(refused.values()) == answers.keys() - refused.keys()

        reads = {operation["operationId"] for _, method, operation in ALL if method == "get"}
        assert {name for name, found in opened.items() if len(found) != 1} == set(), (
            "an operation needs one scope"
        )
        assert {
            name for name, (scope,) in opened.items() if scope.endswith(":read") != (name in reads)
        } == READS_THAT_NEED_MORE
        assert {scope for (scope,) in opened.values()} == set(scopes.ALL)
