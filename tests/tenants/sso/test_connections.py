"""What operators write about connections is judged at the start."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from django.core.exceptions import ImproperlyConfigured

from config.settings.single_sign_on import _read
from tenants.models import Role
from tenants.sso.connections import TENANT_ROLES, Malformed, OpenIdConnect, Saml, parse

ONE = {
    "id": "acme-okta",
    "name": "Okta",
    "tenant": "ten_1",
    "issuer": "https://acme.okta.example",
    "client_id": "0oa1",
    "client_secret": "canary",
    "domains": ["acme.example"],
}


def certificate(bits: int) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder(issuer_name=x509.Name([]), subject_name=x509.Name([]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


OF_SAML = {
    "id": "acme-adfs",
    "kind": "saml",
    "name": "Acme",
    "tenant": "ten_1",
    "issuer": "http://adfs.acme.example/adfs/services/trust",
    "sso_url": "https://adfs.acme.example/adfs/ls/?idp=1",
    "certificates": [certificate(2048)],
    "domains": ["acme.example"],
}


def test_a_connection_is_read():
    values = {"role_claim": "groups", "roles": {"Payers": "member"}, "hosts": ["keys.example"]}

    (one,) = parse(json.dumps([ONE | values]))

    assert isinstance(one, OpenIdConnect)
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


def test_one_of_saml_is_read():
    (one,) = parse(json.dumps([OF_SAML]))

    assert isinstance(one, Saml)
    assert (one.secured_address, one.email_attribute) == (OF_SAML["sso_url"], "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "ldap"}, "kind must be one of oidc, saml"),
        ({"kind": ["saml"]}, "kind must be one of oidc, saml"),
        ({"sso_url": "http://adfs.acme.example/"}, "sso_url must be an https:// address"),
        ({"sso_url": 'https://adfs.acme.example/"'}, "no fragment, quotes or spaces"),
        ({"certificates": []}, "certificates must have at least one"),
        ({"certificates": ["x"]}, "certificate 1 must be PEM"),
        ({"certificates": [certificate(1024)]}, "an RSA key of 2048 bits or more"),
        ({"client_secret": "canary"}, "has client_secret, which is nothing of a connection"),
    ],
    ids=[
        "kind", "kinds", "http", "quote", "none", "no PEM", "short key", "of the other kind",
    ],
)  # fmt: skip
def test_a_bad_one_of_saml_is_refused_in_words(changes, words):
    with pytest.raises(Malformed) as refusal:
        parse(json.dumps([OF_SAML | changes]))

    assert words in str(refusal.value)
    assert "canary" not in str(refusal.value)


def test_one_of_saml_stops_the_start_where_its_packages_are_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onelogin", None)
    file = tmp_path / "connections.json"
    file.write_text(json.dumps([OF_SAML]))

    with pytest.raises(ImproperlyConfigured) as refusal:
        _read(str(file))

    assert "acme-adfs is of kind saml, and its packages are not installed" in str(refusal.value)


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
