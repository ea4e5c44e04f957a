"""People of a tenant sign in at its provider, by real requests to one."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import jwt
import pytest
import time_machine
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from common.clock import utc_now
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Membership, Mode, OutgoingEmail, Role, Tenant, User
from tenants.services import members
from tenants.sso import connections
from tests.builders import NOW, browser_of, make_member, make_staff, make_tenant
from tests.sso_provider import CLIENT_ID, KEY, OTHER_KEY, SECRET, sending_headers_for_ever

pytestmark = pytest.mark.django_db

LEE = "lee@acme.example"
ROLES = {"role_claim": "groups", "roles": {"payers": "member", "checkers": "approver"}}


@pytest.fixture
def connected(connect_acme):
    return connect_acme()


@pytest.fixture
def lee(acme):
    return make_member(acme, email=LEE, role=Role.MEMBER)


def reaches_overview(browser):
    return browser.get("/dashboard/").status_code == 200


def session_of(browser):
    """What we keep of it: the test client's own `session` looks by another key than our store."""
    return dict(browser.get("/dashboard/").wsgi_request.session.items())


def is_signed_out(browser):
    return browser.get("/dashboard/")["Location"].startswith("/accounts/login/")


class TestAMember:
    def test_signs_in(self, provider, connected, lee, client):
        answer = provider.sign_in(client, LEE)

        assert (answer.status_code, answer["Location"]) == (302, "/dashboard/")
        assert reaches_overview(client)

    def test_goes_on_to_the_page_asked_for(self, provider, connected, lee, client):
        answer = provider.sign_in(client, LEE, query="?next=/dashboard/transactions")

        assert answer["Location"] == "/dashboard/transactions"

    def test_is_never_led_to_another_site(self, provider, connected, lee, client):
        answer = provider.sign_in(client, LEE, query="?next=https://evil.example/")

        assert answer["Location"] == "/dashboard/"

    def test_is_known_by_issuer_and_subject_from_then_on(self, provider, connected, lee, client):
        provider.sign_in(client, LEE, subject="s1")

        provider.sign_in(Client(), "lee@elsewhere.example", subject="s1")

        (identity,) = SocialAccount.objects.all()
        assert identity.user == lee
        assert identity.extra_data == {"issuer": provider.url, "subject": "s1"}
        lee.refresh_from_db()
        assert lee.email == LEE

    def test_is_told_and_noted(self, provider, connected, lee, client):
        provider.sign_in(client, LEE)
        provider.sign_in(client, LEE)

        mails = OutgoingEmail.objects.filter(to=LEE).values_list("context__what", flat=True)
        assert sorted(mails) == [
            "Single sign-on was connected",
            "Somebody signed in with a new browser",
        ]
        lines = AuditEvent.objects.filter(action__startswith="sign_in.").order_by("created_at")
        assert [(line.action, line.details) for line in lines] == [
            ("sign_in.linked", {"kind": "Acme ID"}),
            ("sign_in.succeeded", {"how": "sso:acme-idp"}),
            ("sign_in.succeeded", {"how": "sso:acme-idp"}),
        ]

    def test_leaves_no_token_behind(self, provider, connected, lee, client):
        provider.sign_in(client, LEE)

        kept = json.dumps(session_of(client))
        assert "acme-idp" in kept
        assert "id_token" not in kept
        assert "canary" not in kept

    def test_is_asked_for_the_factor_that_they_have_with_us(self, provider, connected, lee, client):
        TOTP.activate(lee, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        provider.claims["amr"] = ["pwd", "mfa"]

        answer = provider.sign_in(client, LEE)

        assert answer["Location"] == "/accounts/2fa/authenticate/"
        assert is_signed_out(client)

    @pytest.mark.parametrize(
        ("claims", "status"),
        [({"amr": ["pwd", "mfa"]}, 200), ({"acr": "phr"}, 200), ({"amr": ["pwd"]}, 403), ({}, 403)],
        ids=["amr", "acr", "password", "nothing"],
    )
    def test_has_the_factor_of_the_provider(
        self, provider, connect_acme, acme, lee, client, claims, status
    ):
        connect_acme(second_factor_acr=("phr",))
        Tenant.objects.filter(pk=acme.pk).update(requires_second_factor=True)
        provider.claims |= claims

        provider.sign_in(client, LEE)

        assert client.get("/dashboard/").status_code == status

    def test_reaches_no_other_tenant_that_they_belong_to(
        self, provider, connected, acme, rival, lee, client
    ):
        make_member(rival, email=LEE, role=Role.OWNER)
        provider.sign_in(client, LEE)

        page = client.get("/dashboard/").content.decode()
        switched = client.post("/dashboard/switch", {"tenant": rival.pk})

        assert "Acme" in page
        assert "Rival" not in page
        assert switched.status_code in (403, 404)

    def test_chooses_no_password_that_opens_the_others(self, provider, connect_acme, client):
        connect_acme(**ROLES)
        provider.claims["groups"] = ["payers"]
        provider.sign_in(client, LEE)
        chosen = {"password1": "correct horse battery 12", "password2": "correct horse battery 12"}

        asked = client.get("/accounts/password/change/", follow=True)
        sent = client.post("/accounts/password/set/", chosen)

        assert "We mail you a link to choose one." in asked.content.decode()
        assert sent.status_code == 405
        assert not User.objects.get(email=LEE).has_usable_password()

    def test_has_the_first_password_by_mail(self, provider, connect_acme, client):
        connect_acme(**ROLES)
        provider.claims["groups"] = ["payers"]
        provider.sign_in(client, LEE)

        client.post("/accounts/password/reset/", {"email": LEE})

        assert OutgoingEmail.objects.filter(to=LEE, template="password_reset").exists()

    def test_reaches_nothing_once_the_connection_is_off(self, provider, connect_acme, lee, client):
        connect_acme()
        provider.sign_in(client, LEE)

        connect_acme(enabled=False)

        page = client.get("/dashboard/")
        assert page.status_code == 403
        assert "sign out, then sign in another way" in page.content.decode()
        assert "not a member" not in page.content.decode()
        assert client.get("/accounts/sso/acme-idp/").status_code == 404


class TestWhoIsRefused:
    def refused(self, provider, client, words, *, email=LEE, **options):
        people = User.objects.count()
        answer = provider.sign_in(client, email, **options)

        assert answer.status_code == 403
        assert words in answer.content.decode()
        assert is_signed_out(client)
        assert User.objects.count() == people
        assert not SocialAccount.objects.exists()

    def test_an_address_that_is_not_verified(self, provider, connected, lee, client):
        for said in (False, None, "no"):
            provider.claims["email_verified"] = said
            self.refused(provider, client, "did not confirm your e-mail address")

    def test_an_address_of_another_domain(self, provider, connected, rival, client):
        make_member(rival, email="eve@rival.example")

        self.refused(
            provider, client, "cannot sign in addresses at rival.example", email="eve@rival.example"
        )

    def test_an_address_that_is_too_long(self, provider, connected, client):
        address = f"{'l' * 250}@acme.example"

        self.refused(provider, client, "is malformed", email=address, subject="s1")

    def test_a_subdomain(self, provider, connected, lee, client):
        self.refused(
            provider,
            client,
            "cannot sign in addresses at it.acme.example",
            email="lee@it.acme.example",
        )

    def test_a_member_of_another_tenant_only(self, provider, connected, rival, client):
        make_member(rival, email=LEE)

        self.refused(provider, client, "Ask an owner of Acme to invite you.")

    def test_our_staff(self, provider, connected, client):
        make_staff(LEE)

        self.refused(provider, client, "You work for us")

    def test_somebody_whose_account_is_closed(self, provider, connected, lee, client):
        lee.is_active = False
        lee.save()

        self.refused(provider, client, "This account is closed.")

    def test_another_subject_with_the_address_of_somebody_known(
        self, provider, connected, lee, client
    ):
        provider.sign_in(Client(), LEE, subject="s1")

        answer = provider.sign_in(client, LEE, subject="s2")

        assert answer.status_code == 403
        assert "is another one than before" in answer.content.decode()

    def test_until_operators_forget_the_former_one(self, provider, connected, lee, client):
        provider.sign_in(Client(), LEE, subject="s1")
        call_command("unlink_sso", "--email", LEE)

        provider.sign_in(client, LEE, subject="s2")

        assert reaches_overview(client)
        assert SocialAccount.objects.get().extra_data["subject"] == "s2"
        assert AuditEvent.objects.filter(action="sign_in.unlinked_by_support").count() == 1

    def test_somebody_who_works_for_us_since(self, provider, connected, lee, client):
        provider.sign_in(Client(), LEE)
        lee.is_staff = True
        lee.save()

        assert provider.sign_in(client, LEE).status_code == 403


class TestRoles:
    def test_make_a_member_of_somebody_new(self, provider, connect_acme, acme, client):
        connect_acme(**ROLES)
        provider.claims |= {"groups": ["payers", "others"], "name": "Lee Doe"}

        provider.sign_in(client, LEE)

        (membership,) = Membership.objects.filter(tenant=acme)
        assert (membership.user.email, membership.role) == (LEE, Role.MEMBER)
        assert membership.user.name == "Lee Doe"
        assert not membership.user.has_usable_password()
        line = AuditEvent.objects.get(action="member.added")
        assert line.details == {"email": LEE, "role": "member", "connection": "Acme ID"}
        assert reaches_overview(client)

    def test_follow_the_provider_at_the_next_sign_in(self, provider, connect_acme, acme, client):
        connect_acme(**ROLES)
        make_member(acme, email="ann@acme.example", role=Role.OWNER)
        provider.claims["groups"] = "payers"
        provider.sign_in(client, LEE)

        provider.claims["groups"] = ["checkers", "payers"]
        provider.sign_in(client, LEE)

        assert Membership.objects.get(user__email=LEE).role == Role.APPROVER
        line = AuditEvent.objects.get(action="member.role_changed")
        assert line.details["before"] == "member"
        assert line.details["connection"] == "Acme ID"
        told = OutgoingEmail.objects.filter(to="ann@acme.example").order_by("pk")
        assert [mail.context["what"] for mail in told] == [
            f"{LEE} joined as Member",
            f"{LEE} is now Approver",
        ]

    def test_let_a_new_approver_of_live_money_wait(self, provider, connect_acme, client):
        live = make_tenant(name="Live", mode=Mode.LIVE)
        make_member(live, email="ann@acme.example", role=Role.OWNER)
        connect_acme(**ROLES, tenant=live.pk)
        provider.claims["groups"] = ["checkers"]

        provider.sign_in(client, LEE)

        assert Membership.objects.get(user__email=LEE).approves_from is not None

    def test_never_change_an_owner(self, provider, connect_acme, acme, client):
        connect_acme(**ROLES)
        make_member(acme, email=LEE, role=Role.OWNER)
        provider.claims["groups"] = ["payers"]

        provider.sign_in(client, LEE)

        assert Membership.objects.get(user__email=LEE).role == Role.OWNER

    def test_that_are_unknown_let_nobody_in(self, provider, connect_acme, lee, client):
        connect_acme(**ROLES)
        for said in (["owners"], [], None, {"payers": True}):
            provider.claims["groups"] = said

            answer = provider.sign_in(client, LEE)

            assert answer.status_code == 403
            assert "gives you no role here" in answer.content.decode()

    def test_do_not_bring_back_who_was_removed(self, provider, connect_acme, acme, client):
        connect_acme(**ROLES)
        make_member(acme, email="ann@acme.example", role=Role.OWNER)
        provider.claims["groups"] = ["payers"]
        provider.sign_in(Client(), LEE)
        membership = Membership.objects.get(user__email=LEE)
        members.remove(tenant_id=acme.pk, membership_id=membership.pk, actor=SYSTEM, now=NOW)

        answer = provider.sign_in(client, LEE)

        assert answer.status_code == 403
        assert not Membership.objects.filter(user__email=LEE).exists()


class TestARequiredConnection:
    def test_is_the_only_way_to_the_tenant(self, provider, connect_acme, acme, lee, client):
        connect_acme(required=True)

        page = browser_of(lee).get("/dashboard/")

        assert page.status_code == 403
        assert "/accounts/sso/acme-idp/?next=%2Fdashboard%2F" in page.content.decode()
        provider.sign_in(client, LEE)
        assert reaches_overview(client)

    def test_asks_nothing_of_guests(self, connect_acme, acme):
        connect_acme(required=True)
        guest = make_member(acme, email="guest@elsewhere.example")

        assert reaches_overview(browser_of(guest))


def unsigned(claims):
    return jwt.encode(dict(claims), "", algorithm="none", headers={"kid": "k1"})


def by_secret(claims):
    return jwt.encode(dict(claims), SECRET * 2, algorithm="HS256", headers={"kid": "k1"})


def by_other_key(claims):
    return jwt.encode(dict(claims), OTHER_KEY, algorithm="RS256", headers={"kid": "k1"})


def by_unknown_key(claims):
    return jwt.encode(dict(claims), KEY, algorithm="RS256", headers={"kid": "k2"})


class TestTokens:
    def distrusted(self, provider, client):
        answer = provider.sign_in(client, LEE)

        assert answer.status_code == 403
        assert "could not be verified" in answer.content.decode()
        assert is_signed_out(client)

    @pytest.mark.parametrize(
        "claims",
        [
            {"iss": "https://elsewhere.example"},
            {"aud": "somebody-else"},
            {"aud": [CLIENT_ID, "somebody-else"]},
            {"azp": "somebody-else"},
            {"nonce": "another"},
            {"nonce": None},
            {"exp": int(time.time()) - 120},
            {"exp": None},
            {"iat": int(time.time()) + 86_400},  # the test may run long after this line
            {"sub": ""},
            {"sub": "s" * 256},
            {"sub": "a\0b"},
            {"sub": "a\ud800"},
            {"nonce": "\ud800"},
        ],
        ids=[
            "issuer", "audience", "two audiences", "client", "nonce", "no nonce", "expired",
            "without end", "of the future", "nobody", "long subject", "subject with NUL",
            "subject with half a character", "nonce with half a character",
        ],
    )  # fmt: skip
    def test_that_say_something_wrong_are_refused(self, provider, connected, lee, client, claims):
        provider.claims |= claims

        self.distrusted(provider, client)

    @pytest.mark.parametrize(
        "said", [10**400, float("inf"), float("nan")], ids=["huge", "infinite", "none"]
    )
    def test_whose_time_is_no_time_prove_nothing(self, provider, connected, lee, client, said):
        provider.claims["auth_time"] = said

        provider.sign_in(client, LEE)

        (proof,) = session_of(client)[AUTHENTICATION_METHODS_SESSION_KEY]
        assert proof["at"] == 0

    @pytest.mark.parametrize("sign", [unsigned, by_secret, by_other_key, by_unknown_key])
    def test_that_the_provider_did_not_sign_are_refused(
        self, provider, connected, lee, client, sign
    ):
        provider.sign = sign

        self.distrusted(provider, client)


class TestCallbacks:
    def test_are_taken_once(self, provider, connected, lee, client):
        back = provider.authorize(provider.leave(client), email=LEE)
        client.get(back)
        client.post("/accounts/logout/")

        again = client.get(back)

        assert again.status_code == 400
        assert is_signed_out(client)

    def test_of_another_browser_are_refused(self, provider, connected, lee, client):
        back = provider.authorize(provider.leave(Client()), email=LEE)

        answer = client.get(back)

        assert answer.status_code == 400
        assert is_signed_out(client)

    def test_of_another_connection_are_refused(self, provider, connect_acme, settings, lee, client):
        one = connect_acme(id="other", domains=("other.example",))
        settings.SINGLE_SIGN_ON = (connect_acme(), one)
        back = provider.authorize(provider.leave(client), email=LEE)

        assert client.get(back.replace("/acme-idp/", "/other/")).status_code == 400

    def test_that_come_late_are_refused(self, provider, connected, lee, client):
        with time_machine.travel(utc_now() - timedelta(seconds=601)):
            away = provider.leave(client)

        assert client.get(provider.authorize(away, email=LEE)).status_code == 400

    def test_of_who_said_no_are_told_so(self, provider, connected, client):
        away = provider.leave(client)
        state = away.partition("state=")[2].partition("&")[0]

        answer = client.get(f"/accounts/sso/acme-idp/callback/?error=access_denied&state={state}")

        assert answer.status_code == 400
        assert "was not finished at Acme ID" in answer.content.decode()

    def test_need_the_code_that_this_browser_began(self, provider, connected, lee, client):
        """By PKCE: a code that somebody put into the address was asked for with another secret."""
        away = provider.leave(client)
        stolen = provider.authorize(provider.leave(Client()), email=LEE)
        code = stolen.partition("code=")[2].partition("&")[0]
        state = away.partition("state=")[2].partition("&")[0]

        answer = client.get(f"/accounts/sso/acme-idp/callback/?code={code}&state={state}")

        assert answer.status_code == 503
        assert is_signed_out(client)


class TestAProviderThatIsAway:
    def away(self, answer):
        assert answer.status_code == 503
        assert "Acme ID does not answer as it should." in answer.content.decode()

    def test_is_told(self, connect_acme, client, port):
        connect_acme(issuer=f"http://localhost:{port}")

        self.away(client.get("/accounts/sso/acme-idp/"))

    @pytest.mark.parametrize(
        "answer",
        [
            ("500 Broken", b"{}"),
            ("302 Found", b"{}"),
            ("200 OK", b"<html>"),
            ("200 OK", b"[]"),
            ("200 OK", b" " * 300_000),
        ],
        ids=["500", "redirect", "no JSON", "no object", "too long"],
    )
    def test_is_told_of_answers_that_make_no_sense(self, provider, connected, client, answer):
        provider.answers["/.well-known/openid-configuration"] = answer

        self.away(client.get("/accounts/sso/acme-idp/"))

    @pytest.mark.parametrize(
        "said",
        [
            {"issuer": "https://elsewhere.example"},
            {"token_endpoint": "http://169.254.169.254/token"},
            {"jwks_uri": "http://localhost:1/jwks"},
            {"authorization_endpoint": "javascript:alert(1)"},
        ],
        ids=["issuer", "token", "keys", "authorization"],
    )
    def test_is_not_believed_where_it_points_elsewhere(self, provider, connected, client, said):
        provider.discovery |= said

        self.away(client.get("/accounts/sso/acme-idp/"))

    def test_is_told_when_it_leaves_in_the_middle(self, provider, connected, lee, client):
        back = provider.authorize(provider.leave(client), email=LEE)
        provider.answers["/oauth2/token"] = ("500 Broken", b"{}")

        self.away(client.get(back))

    @pytest.mark.parametrize(
        "body",
        [b'["access_token"]', b'"access_token"', b"[" * 100_000],
        ids=["list", "text", "deep"],
    )
    def test_is_told_of_tokens_that_make_no_sense(self, provider, connected, lee, client, body):
        back = provider.authorize(provider.leave(client), email=LEE)
        provider.answers["/oauth2/token"] = ("200 OK", body)

        self.away(client.get(back))

    @pytest.mark.slow
    def test_is_told_when_it_sends_its_headers_one_by_one(self, connect_acme, client):
        with sending_headers_for_ever() as url:
            connect_acme(issuer=url)
            began = time.monotonic()

            self.away(client.get("/accounts/sso/acme-idp/"))

        assert time.monotonic() - began < 10


class TestTheWayThere:
    def test_is_found_by_the_address(self, connected, client):
        page = client.post("/accounts/sso/", {"email": "Lee@ACME.example"}).content.decode()

        assert "/accounts/sso/acme-idp/" in page

    def test_is_not_there_for_others(self, connected, client):
        page = client.post("/accounts/sso/", {"email": "lee@rival.example"})

        assert page.status_code == 422
        assert "No single sign-on is set up for this address." in page.content.decode()

    def test_is_offered_at_sign_in_where_there_is_one(self, connected, client, settings):
        assert "Sign in with single sign-on" in client.get("/accounts/login/").content.decode()
        settings.SINGLE_SIGN_ON = ()
        assert "single sign-on" not in client.get("/accounts/login/").content.decode()

    def test_has_a_pace(self, connected, client, settings):
        settings.SINGLE_SIGN_ON_PER_MINUTE = 2

        with time_machine.travel(utc_now(), tick=False):
            answers = [client.get("/accounts/sso/acme-idp/").status_code for _ in range(3)]

        assert answers == [302, 302, 429]

    def test_has_no_other_host_by_what_the_cache_holds(self, provider, connected, client):
        (connection,) = connections.connected()
        key = f"sso:{connection.id}:{connection.issuer}"
        assert client.get("/accounts/sso/acme-idp/").status_code == 302
        elsewhere = {"authorization_endpoint": "https://rival.example/authorize"}
        cache.set(key, {**cache.get(key), **elsewhere})

        assert client.get("/accounts/sso/acme-idp/").status_code == 503

    def test_is_looked_up_at_a_pace(self, connected, client, settings):
        settings.SINGLE_SIGN_ON_PER_MINUTE = 2

        with time_machine.travel(utc_now(), tick=False):
            answers = [
                client.post("/accounts/sso/", {"email": "lee@rival.example"}).status_code
                for _ in range(3)
            ]

        assert answers == [422, 422, 429]

    @pytest.mark.parametrize("path", ["/accounts/3rdparty/", "/accounts/3rdparty/signup/"])
    def test_is_not_that_of_the_package(self, path, connected, lee):
        assert browser_of(lee).get(path).status_code == 404
