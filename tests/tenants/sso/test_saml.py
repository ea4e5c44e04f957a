"""People of a tenant sign in at its SAML provider, by responses that are really signed."""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta

import pytest
import time_machine
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client

from common.clock import utc_now
from tenants.models import Membership, Role, Tenant, User
from tests.builders import make_member

pytest.importorskip("onelogin", reason="requirements-saml.txt is not installed: `./run saml`")

import xmlsec
from lxml import etree

from tenants.sso.saml import codes
from tests.saml_provider import (
    MANY_FACTORS,
    NAMES,
    OTHER_CERTIFICATE,
    OTHER_KEY,
    SSO_URL,
    SamlProvider,
    follow,
    saml_connection,
    sign,
)

pytestmark = pytest.mark.django_db

LEE = "lee@acme.example"
ROLES = {"role_claim": "groups", "roles": {"payers": "member", "checkers": "approver"}}
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
RESPONDER = "urn:oasis:names:tc:SAML:2.0:status:Responder"


@pytest.fixture
def provider():
    cache.clear()  # of assertions that were brought, and of how often it was asked for
    return SamlProvider()


@pytest.fixture
def connect_acme(acme, settings):
    def connect(**values):
        one = saml_connection(**({"tenant": acme.pk} | values))
        settings.SINGLE_SIGN_ON = (one,)
        return one

    return connect


@pytest.fixture
def connected(connect_acme):
    return connect_acme()


@pytest.fixture
def lee(acme):
    return make_member(acme, email=LEE, role=Role.MEMBER)


def reaches_overview(browser):
    return browser.get("/dashboard/").status_code == 200


def time_of(seconds):
    """So many seconds from now, as SAML writes it."""
    return (utc_now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class TestAMember:
    def test_signs_in(self, provider, connected, lee, client):
        answer = provider.sign_in(client, LEE, query="?next=/dashboard/transactions")

        assert (answer.status_code, answer["Location"]) == (302, "/dashboard/transactions")
        assert reaches_overview(client)

    def test_is_asked_for_at_the_providers_address(self, provider, connected, client):
        away = provider.leave(client)

        assert away["address"].startswith(f"{SSO_URL}&SAMLRequest=")
        root = etree.fromstring(away["xml"].encode())
        assert root.get("Destination") == SSO_URL
        assert root.get("AssertionConsumerServiceURL").endswith("/accounts/sso/acme-saml/saml/")
        assert root.get("ForceAuthn") is None

    def test_is_known_by_issuer_and_subject_from_then_on(self, provider, connected, lee, client):
        provider.sign_in(client, LEE, subject="s1")

        provider.sign_in(Client(), "lee@elsewhere.example", subject="s1")

        (identity,) = SocialAccount.objects.all()
        assert identity.user == lee
        assert identity.extra_data == {"issuer": connected.issuer, "subject": "s1"}

    def test_may_be_named_by_the_address_alone(self, provider, connect_acme, lee, client):
        connect_acme(email_attribute="")

        provider.sign_in(client, "elsewhere@rival.example", subject=LEE)

        assert reaches_overview(client)

    @pytest.mark.parametrize(("context", "status"), [(MANY_FACTORS, 200), ("urn:other", 403)])
    def test_has_the_factor_of_the_provider(
        self, provider, connect_acme, acme, lee, client, context, status
    ):
        connect_acme(second_factor_acr=(MANY_FACTORS,))
        Tenant.objects.filter(pk=acme.pk).update(requires_second_factor=True)
        provider.values["context"] = context

        provider.sign_in(client, LEE)

        assert client.get("/dashboard/").status_code == status

    def test_gets_the_role_of_the_provider(self, provider, connect_acme, acme, client):
        connect_acme(**ROLES)
        provider.groups = ("others", "payers", "checkers")

        provider.sign_in(client, LEE)

        (membership,) = Membership.objects.filter(tenant=acme)
        assert (membership.user.email, membership.role) == (LEE, Role.APPROVER)

    def test_signs_in_where_the_whole_response_is_signed_too(
        self, provider, connected, lee, client
    ):
        def twice(root):
            sign(root)
            sign(root, path="/samlp:Response")

        provider.sign = twice

        provider.sign_in(client, LEE)

        assert reaches_overview(client)


class TestWhoIsRefused:
    @pytest.mark.parametrize(
        ("email", "words"),
        [
            ("eve@rival.example", "cannot sign in addresses at rival.example"),
            (
                "lee@acme.example.rival.example",
                "cannot sign in addresses at acme.example.rival.example",
            ),
            ("", "did not confirm your e-mail address"),
        ],
    )
    def test_an_address_of_another_domain(self, provider, connected, lee, client, email, words):
        answer = provider.sign_in(client, email)

        assert answer.status_code == 403
        assert words in answer.content.decode()

    def test_whose_role_is_unknown(self, provider, connect_acme, lee, client):
        connect_acme(**ROLES)
        provider.groups = ("owners",)

        answer = provider.sign_in(client, LEE)

        assert answer.status_code == 403
        assert "gives you no role here" in answer.content.decode()

    def test_whom_the_provider_did_not_sign_in(self, provider, connected, lee, client):
        provider.values["status"] = RESPONDER

        answer = provider.sign_in(client, LEE)

        assert answer.status_code == 400
        assert "was not finished at Acme ID" in answer.content.decode()

    def test_an_address_with_a_comment_in_it_is_read_to_its_end(
        self, provider, connected, lee, client
    ):
        """The signature stays right when somebody puts a comment in (CVE-2017-11427)."""
        whole = f"{LEE}.rival.example".encode()
        provider.after = lambda sent: sent.replace(whole, LEE.encode() + b"<!-- -->.rival.example")

        answer = provider.sign_in(client, whole.decode())

        assert answer.status_code == 403
        domain = whole.decode().rpartition("@")[2]
        assert f"cannot sign in addresses at {domain}." in answer.content.decode()
        assert not reaches_overview(client)

    def test_an_address_with_an_element_in_it_is_none(self, provider, connected, lee, client):
        provider.values["email"] = f"{LEE}<saml:x/>.rival.example"

        answer = provider.sign_in(client, "")

        assert answer.status_code == 403
        assert not reaches_overview(client)


class TestAResponse:
    def distrusted(self, provider, client):
        people = User.objects.count()

        answer = provider.sign_in(client, LEE)

        assert answer.status_code == 403
        assert "could not be verified" in answer.content.decode()
        assert not reaches_overview(client)
        assert not SocialAccount.objects.exists()
        assert User.objects.count() == people

    @pytest.mark.parametrize(
        "values",
        [
            {"audience": "https://elsewhere.example/"},
            {"audience": "{ours}</saml:Audience><saml:Audience>https://elsewhere.example/"},
            {"issuer": "https://elsewhere.example"},
            {"recipient": "https://elsewhere.example/accounts/sso/acme-saml/saml/"},
            {"recipient": "{answers}more"},
            {"destination": "{answers}more"},
            {"destination": "https://elsewhere.example/"},
            {"in_response_to": ""},
            {"in_response_to": 'InResponseTo="another"'},
            {"request": "another", "in_response_to": 'InResponseTo="another"'},
            {"method": "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"},
            {"format": TRANSIENT},
            {"subject": "<saml:x/>s1"},
            {"subject": "s" * 256},
        ],
        ids=[
            "audience", "two audiences", "issuer", "recipient", "longer recipient",
            "longer destination", "destination", "unsolicited", "two requests", "another request",
            "sender vouches", "passing name", "no name", "long name",
        ],
    )  # fmt: skip
    def test_that_says_something_wrong_is_refused(
        self, provider, connected, lee, client, settings, values
    ):
        ours = f"{settings.BASE_URL}/accounts/sso/acme-saml/"
        provider.values = {
            name: value.replace("{ours}", ours).replace("{answers}", f"{ours}saml/")
            for name, value in values.items()
        }

        self.distrusted(provider, client)

    @pytest.mark.parametrize(
        "seconds",
        [{"ends": -61}, {"begins": 61}, {"until": -1}, {"proven": 120}, {"now": 120}],
        ids=["expired", "early", "confirmed too late", "proven later", "issued later"],
    )
    def test_that_is_not_in_force_is_refused(self, provider, connected, lee, client, seconds):
        provider.values = {name: time_of(value) for name, value in seconds.items()}

        self.distrusted(provider, client)

    def test_may_come_from_a_clock_that_is_a_little_off(self, provider, connected, lee, client):
        provider.values = {"begins": time_of(40), "now": time_of(40), "proven": time_of(40)}

        provider.sign_in(client, LEE)

        assert reaches_overview(client)

    @pytest.mark.parametrize(
        "options",
        [
            {"key": OTHER_KEY},
            {"path": "/samlp:Response"},
            {"method": xmlsec.Transform.RSA_SHA1},
            {"digest": xmlsec.Transform.SHA1},
            {"method": xmlsec.Transform.RSA_MD5},
            {"form": xmlsec.Transform.EXCL_C14N_COMMENTS},
            {"form": xmlsec.Transform.C14N},
        ],
        ids=[
            "key", "response only", "sha1", "sha1 digest", "md5", "with comments", "whole context",
        ],
    )  # fmt: skip
    def test_that_is_signed_in_another_way_is_refused(
        self, provider, connect_acme, lee, client, options
    ):
        connect_acme(certificates=(saml_connection(tenant="").certificates[1],))
        provider.sign = lambda root: sign(root, **options)

        self.distrusted(provider, client)

    def test_that_nobody_signed_is_refused(self, provider, connected, lee, client):
        provider.sign = lambda root: None

        self.distrusted(provider, client)

    def test_that_was_changed_afterward_is_refused(self, provider, connected, lee, client):
        provider.after = lambda sent: sent.replace(b"sub-lee@", b"sub-ann@")

        self.distrusted(provider, client)

    def test_by_a_key_that_is_not_trusted_any_more_is_refused(
        self, provider, connect_acme, lee, client
    ):
        connect_acme(certificates=(OTHER_CERTIFICATE,))

        self.distrusted(provider, client)

    @pytest.mark.parametrize("case", ["before", "after", "within", "object", "extensions", "id"])
    def test_that_wraps_what_was_signed_is_refused(self, provider, connected, lee, client, case):
        """A second assertion is read while the signed one is verified (XSW)."""
        provider.after = lambda sent: wrapped(sent, case)

        self.distrusted(provider, client)

    @pytest.mark.parametrize(
        "change",
        [
            lambda sent: b"<!DOCTYPE x>" + sent,
            lambda sent: b'<!DOCTYPE x [<!ENTITY e "lee@acme.example">]>' + sent,
            lambda sent: b"no XML",
            lambda sent: b"",
            lambda sent: b"<x/>",
            lambda sent: sent + b" " * 300_000,
        ],
        ids=["dtd", "entity", "text", "nothing", "other", "too long"],
    )
    def test_that_is_no_plain_response_is_refused(self, provider, connected, lee, client, change):
        provider.after = change

        self.distrusted(provider, client)


def wrapped(sent, case):
    """The signed assertion moved aside, and one of somebody else in its place."""
    root = etree.fromstring(sent)
    (signed,) = root.xpath("saml:Assertion", namespaces=NAMES)
    evil = deepcopy(signed)
    (signature,) = evil.xpath("ds:Signature", namespaces=NAMES)
    (name,) = evil.xpath("saml:Subject/saml:NameID", namespaces=NAMES)
    name.text = "somebody else"
    if case != "id":
        evil.set("ID", "evil")
    if case in ("before", "id"):
        evil.remove(signature)
        signed.addprevious(evil)
    elif case == "after":
        evil.remove(signature)
        signed.addnext(evil)
    elif case == "within":
        root.replace(signed, evil)
        evil.append(signed)
    elif case == "object":
        root.replace(signed, evil)
        etree.SubElement(signature, f"{{{NAMES['ds']}}}Object").append(signed)
    else:
        root.replace(signed, evil)
        extensions = etree.Element(f"{{{NAMES['samlp']}}}Extensions")
        root.insert(1, extensions)
        extensions.append(signed)
    return etree.tostring(root)


class TestBringingAResponse:
    def test_works_once(self, provider, connected, lee, client):
        away = provider.leave(client)
        sent = provider.response(away["id"], email=LEE)
        first = provider.post(sent, relay_state=away["relay_state"])

        second = provider.post(sent, relay_state=away["relay_state"])

        assert (first.status_code, second.status_code) == (302, 403)
        assert "could not be verified" in second.content.decode()

    def test_gives_a_code_that_works_once(self, provider, connected, lee, client):
        away, again = provider.leave(client), provider.leave(client)
        sent = provider.response(away["id"], email=LEE)
        answer = provider.post(sent, relay_state=away["relay_state"])
        follow(client, answer)
        client.post("/accounts/logout/")

        repeated = follow(client, answer)

        assert repeated.status_code == 400
        assert again["id"] != away["id"]
        assert not reaches_overview(client)

    def test_helps_in_the_browser_that_asked_alone(self, provider, connected, lee, client):
        away = provider.leave(Client())
        sent = provider.response(away["id"], email=LEE)

        answer = follow(client, provider.post(sent, relay_state=away["relay_state"]))

        assert answer.status_code == 400
        assert not reaches_overview(client)

    def test_answers_the_request_that_state_belongs_to(self, provider, connected, lee, client):
        """Somebody else's response, put into a sign-in that this browser began."""
        away, other = provider.leave(client), provider.leave(Client())
        sent = provider.response(other["id"], email=LEE)

        answer = follow(client, provider.post(sent, relay_state=away["relay_state"]))

        assert answer.status_code == 403
        assert not reaches_overview(client)

    def test_too_late_is_refused(self, provider, connected, lee, client):
        away = provider.leave(client)
        answer = provider.post(
            provider.response(away["id"], email=LEE), relay_state=away["relay_state"]
        )

        with time_machine.travel(utc_now() + timedelta(seconds=61)):
            assert follow(client, answer).status_code == 403

    def test_leads_nowhere_by_relay_state(self, provider, connected, lee, client):
        away = provider.leave(client)

        answer = provider.post(
            provider.response(away["id"], email=LEE), relay_state="https://evil.example/"
        )

        assert answer["Location"].startswith("http://localhost:8000/accounts/sso/acme-saml/")
        assert follow(client, answer).status_code == 400

    def test_sets_no_cookie(self, provider, connected, lee, client):
        """The browser's own were left out, and stay what they are."""
        away = provider.leave(client)
        sent = provider.response(away["id"], email=LEE)

        assert provider.post(sent, relay_state=away["relay_state"]).cookies == {}
        assert provider.post(sent, relay_state=away["relay_state"]).cookies == {}

    def test_is_a_post(self, connected, client):
        assert client.get("/accounts/sso/acme-saml/saml/").status_code == 405
        assert client.post("/accounts/sso/elsewhere/saml/").status_code == 404
        assert client.post("/accounts/sso/acme-saml/saml/").status_code == 403


class TestProvingOnceMore:
    def test_asks_the_provider_to_ask(self, provider, connected, lee, client):
        provider.sign_in(client, LEE)

        away = provider.leave(client, query="?again")

        assert etree.fromstring(away["xml"].encode()).get("ForceAuthn") == "true"

    @pytest.mark.parametrize(("seconds", "status"), [(0, 200), (-120, 403)])
    def test_counts_where_it_did(self, provider, connected, lee, client, seconds, status):
        provider.sign_in(client, LEE)
        provider.values["proven"] = time_of(seconds)

        answer = provider.sign_in(client, LEE, query="?again")

        assert answer.status_code == status
        words = "Thank you, it is you" if status == 200 else "did not ask you again"
        assert words in answer.content.decode()


def test_what_the_cache_holds_says_nothing_unless_we_wrote_it(provider, connected, lee, client):
    away = provider.leave(client)
    answer = provider.post(
        provider.response(away["id"], email=LEE), relay_state=away["relay_state"]
    )
    code = answer["Location"].partition("code=")[2]
    key = codes._key(connected, code)
    cache.set(key, cache.get(key)[:-1] + "x")

    assert follow(client, answer).status_code == 403
