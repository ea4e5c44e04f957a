"""What operators write about connections is judged at the start."""

from __future__ import annotations

import json

import pytest

from tenants.models import Role
from tenants.sso.connections import TENANT_ROLES, Malformed, parse

ONE = {
    "id": "acme-okta",
    "name": "Okta",
    "tenant": "ten_1",
    "issuer": "https://acme.okta.example",
    "client_id": "0oa1",
    "client_secret": "canary",
    "domains": ["acme.example"],
}


def test_a_connection_is_read():
    values = {"role_claim": "groups", "roles": {"Payers": "member"}, "hosts": ["keys.example"]}

    (one,) = parse(json.dumps([ONE | values]))

    assert (one.id, one.domains, one.hosts) == ("acme-okta", ("acme.example",), ("keys.example",))
    assert one.roles == {"Payers": "member"}
    assert (one.required, one.enabled, one.is_of_staff) == (False, True, False)
    assert "canary" not in repr(one)


def test_roles_are_those_of_a_tenant_without_the_owner():
    assert {*TENANT_ROLES, "owner"} == set(Role.values)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issuer": "http://idp.example"}, "issuer must be an https:// address"),
        ({"issuer": "https://idp.example?x=1"}, "issuer has no query"),
        ({"domains": []}, "at least one domain"),
        ({"domains": ["Acme.example"]}, "is no domain in small letters"),
        ({"domains": ["gmail.com"]}, "anybody gets an address in gmail.com"),
        ({"domains": "acme.example"}, "domains must be an array of texts"),
        ({"tenant": "acme"}, "tenant is the id of a tenant, or staff"),
        ({"id": "a/b"}, "id is 1 to 40"),
        ({"hosts": ["https://keys.example"]}, "hosts are names"),
        ({"roles": {"Bosses": "owner"}, "role_claim": "groups"}, "roles has owner"),
        ({"roles": {"Payers": "member"}}, "role_claim and roles go together"),
        ({"required": "yes"}, "required must be true or false"),
        ({"client_secret": " "}, "client_secret must be a text"),
        ({"secret": "x"}, "has secret, which is nothing of a connection"),
    ],
)
def test_a_bad_one_is_refused_in_words(changes, words):
    with pytest.raises(Malformed) as refusal:
        parse(json.dumps([ONE | changes]))

    assert words in str(refusal.value)
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ("{}", "must be an array"),
        ("[", "it is no JSON"),
        ("[1]", "each connection is an object"),
        (json.dumps([ONE, ONE]), "two connections have the id acme-okta"),
        (json.dumps([ONE, ONE | {"id": "b"}]), "two connections have the domain acme.example"),
        (
            json.dumps(
                [
                    ONE | {"id": name, "tenant": "staff", "domains": [f"{name}.example"]}
                    for name in "ab"
                ]
            ),
            "staff have one connection",
        ),
        (json.dumps([{"id": "a"}]), "a lacks client_id, client_secret, domains"),
    ],
    ids=["object", "text", "number", "twice", "shared", "two of staff", "incomplete"],
)
def test_a_bad_list_is_refused_in_words(entries, words):
    with pytest.raises(Malformed) as refusal:
        parse(entries)

    assert words in str(refusal.value)
