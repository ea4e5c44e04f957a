"""The second factor and the sessions, as people use them."""

from __future__ import annotations

import re
import time
from urllib.parse import unquote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core import mail
from django.test import Client

from common import crypto, rotation
from common.clock import utc_now
from tenants import second_factor
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Role
from tenants.services import accounts, emails
from tests.builders import NOW, enter_as, make_member, session_of
from tests.passkeys import Passkey

PASSWORD = "correct horse battery"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def lee(acme):
    return accounts.create_member(
        tenant_id=acme.pk,
        email="lee@acme.example",
        role=Role.MEMBER,
        password=PASSWORD,
        actor=SYSTEM,
        now=NOW,
    ).user


def code_of(secret=SECRET, *, steps=0):
    """The code of a step that is so many half minutes from now.

    One of the step before is refused once this step ends, so wait for the next if that is near.
    """
    rest = 30 - time.time() % 30
    if steps < 0 and rest < 5:
        time.sleep(rest)
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


def enter(client, *, password=PASSWORD):
    return client.post("/accounts/login/", {"login": "lee@acme.example", "password": password})


def confirm(client, path):
    """Open a page that needs a proof of a moment ago, which signing in was, and, before the first
    factor, a link that is mailed."""
    page = client.get(path)
    if page.get("Location") == "/accounts/2fa/enroll/":
        client.post("/accounts/2fa/enroll/")
        client.get(enrolment_link())
        page = client.get(path)
    assert page.status_code == 200
    return page


def enrolment_link():
    """The path of the last link that was mailed to set up a first second factor."""
    emails.send_due(now=utc_now())
    bodies = [str(message.body) for message in mail.outbox]
    links = re.findall(r"https?://\S+?(/accounts/2fa/enroll/\S+/)", "\n".join(bodies))
    return links[-1]


def actions(**filters):
    rows = AuditEvent.objects.filter(**filters).order_by("created_at", "id")
    return [row.action for row in rows.exclude(action__startswith="tenant.")]


@pytest.fixture
def with_passkey(lee):
    """Lee has a passkey, and recovery codes."""
    browser, key = Client(), Passkey()
    enter(browser)
    path = "/accounts/2fa/webauthn/add/"
    asked = confirm(browser, path).context["js_data"]["creation_options"]
    browser.post(path, {"name": "Key", "credential": key.added(asked)})
    assert second_factor.is_set_up(user_id=lee.pk)


@pytest.fixture
def with_app(lee):
    TOTP.activate(lee, SECRET)
    return RecoveryCodes.activate(lee).generate_codes()


class TestSettingUpAnApp:
    def test_asks_for_the_password_again_after_ten_minutes(self, client, lee):
        path = "/accounts/2fa/totp/activate/"
        enter_as(client, lee, minutes_ago=11)

        client.post("/accounts/2fa/enroll/")
        client.get(enrolment_link())

        asked = client.get(path)["Location"]
        assert unquote(asked) == f"/accounts/reauthenticate/?next={path}"
        page = client.post(asked, {"password": PASSWORD, "next": path}, follow=True)

        assert page.context["form"].secret

    def test_asks_who_has_a_passkey_for_that(self, client, lee):
        Authenticator.objects.create(user=lee, type="webauthn", data={})
        enter_as(client, lee, factor="webauthn", minutes_ago=11)
        path = "/accounts/2fa/totp/activate/"

        asked = client.get(path)["Location"]
        passed_on = client.post("/accounts/reauthenticate/", {"password": PASSWORD})

        assert unquote(asked) == f"/accounts/2fa/webauthn/reauthenticate/?next={path}"
        assert passed_on["Location"] == "/accounts/2fa/webauthn/reauthenticate/"

    def test_turns_it_on_and_shows_recovery_codes(self, client, lee):
        enter(client)
        page = confirm(client, "/accounts/2fa/totp/activate/").content.decode()
        secret = re.findall(r"\b[A-Z2-7]{32}\b", page)[0]

        response = client.post(
            "/accounts/2fa/totp/activate/", {"code": code_of(secret)}, follow=True
        )

        assert response.redirect_chain == [("/accounts/2fa/recovery-codes/", 302)]
        assert len(re.findall(r"<li>\d{8}</li>", response.content.decode())) == 10
        assert second_factor.is_set_up(user_id=lee.pk)

    def test_is_refused_with_a_wrong_code(self, client, lee):
        enter(client)
        confirm(client, "/accounts/2fa/totp/activate/")

        response = client.post("/accounts/2fa/totp/activate/", {"code": "000000"})

        assert b"Incorrect code" in response.content
        assert not Authenticator.objects.exists()

    def test_shows_the_code_without_anything_the_policy_forbids(self, client, lee):
        enter(client)

        content = confirm(client, "/accounts/2fa/totp/activate/").content.decode()

        assert 'src="data:image/svg+xml;base64,' in content
        assert "<style" not in content
        assert "style=" not in content


class TestSigningInWithAnApp:
    def test_stops_at_the_second_step(self, client, with_app):
        response = enter(client)

        assert response["Location"] == "/accounts/2fa/authenticate/"
        assert client.get("/dashboard/").status_code == 302

    def test_goes_on_with_the_code(self, client, with_app):
        enter(client)

        response = client.post("/accounts/2fa/authenticate/", {"code": code_of()})

        assert response["Location"] == "/dashboard/"
        assert client.get("/dashboard/").status_code == 200

    def test_offers_no_passkey_to_who_has_none(self, client, with_app):
        enter(client)

        page = client.get("/accounts/2fa/authenticate/").content.decode()

        assert "Use a passkey" not in page
        assert "From your authenticator app, or one of your recovery codes." in page

    def test_asks_for_no_code_of_who_has_a_passkey_alone(self, client, with_passkey):
        Authenticator.objects.filter(type="recovery_codes").delete()
        enter(client)

        page = client.get("/accounts/2fa/authenticate/").content.decode()

        assert "Use a passkey" in page
        assert 'name="code"' not in page

    def test_offers_recovery_codes_beside_a_passkey(self, client, with_passkey):
        enter(client)

        page = client.get("/accounts/2fa/authenticate/").content.decode()

        assert "Use a passkey" in page
        assert "One of your recovery codes." in page
        assert ">Recovery code</label>" in page
        assert "authenticator app" not in page

    def test_asks_for_the_passkey_first_of_who_has_no_app(self, client, with_passkey):
        """Recovery codes are few, and for who lost it."""
        enter(client)

        page = client.get("/accounts/2fa/authenticate/").content.decode()

        assert page.index("Use a passkey") < page.index('name="code"')
        assert "autofocus" not in page
        assert "button--primary" in page.partition("Use a passkey")[0].rpartition("<button")[2]
        assert "button--primary" not in page.partition("Use a passkey")[2].partition("</form>")[2]

    def test_asks_for_the_code_first_of_who_has_an_app_too(self, client, lee, with_passkey):
        TOTP.activate(lee, SECRET)
        enter(client)

        page = client.get("/accounts/2fa/authenticate/").content.decode()

        assert page.index('name="code"') < page.index("Use a passkey")
        assert "autofocus" in page

    def test_offers_strangers_the_same_as_everybody_before_the_password(self, client, with_app):
        page = client.get("/accounts/login/").content.decode()

        assert "Sign in with a passkey" in page

    def test_takes_a_code_once(self, client, with_app):
        code = code_of()
        enter(client)
        client.post("/accounts/2fa/authenticate/", {"code": code})
        other = Client()
        enter(other)

        response = other.post("/accounts/2fa/authenticate/", {"code": code})

        assert b"Incorrect code" in response.content
        assert other.get("/dashboard/").status_code == 302

    def test_takes_each_recovery_code_once(self, client, with_app):
        enter(client)
        first = client.post("/accounts/2fa/authenticate/", {"code": with_app[0]})
        other = Client()
        enter(other)
        second = other.post("/accounts/2fa/authenticate/", {"code": with_app[0]})

        assert first["Location"] == "/dashboard/"
        assert b"Incorrect code" in second.content

    def test_stops_a_guesser(self, client, with_app):
        enter(client)
        for _ in range(5):
            client.post("/accounts/2fa/authenticate/", {"code": "000000"})

        response = client.post("/accounts/2fa/authenticate/", {"code": code_of()})

        assert b"Too many wrong passwords or codes" in response.content
        assert client.get("/dashboard/").status_code == 302

    def test_stops_a_patient_guesser_after_fifty_in_a_day(self, client, with_app, settings):
        settings.ACCOUNT_RATE_LIMITS = {
            **settings.ACCOUNT_RATE_LIMITS,
            "login_failed": "1000/m/ip",
        }
        enter(client)
        for _ in range(50):
            client.post("/accounts/2fa/authenticate/", {"code": "000000"})

        response = client.post("/accounts/2fa/authenticate/", {"code": code_of()})

        assert b"Too many wrong passwords or codes" in response.content

    def test_works_while_valkey_is_gone(self, client, with_app, settings):
        settings.CACHES = {
            "default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
        }
        enter(client)
        wrong = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
        right = client.post("/accounts/2fa/authenticate/", {"code": code_of()})

        assert b"Incorrect code" in wrong.content
        assert right["Location"] == "/dashboard/"


class TestTheTrail:
    def test_tells_of_every_sign_in_and_every_failure(self, client, acme, lee):
        enter(client, password="wrong")
        enter(client)

        assert actions(subject_id=lee.pk, tenant=acme) == [
            "member.added",
            "sign_in.failed",
            "sign_in.succeeded",
        ]
        failed = AuditEvent.objects.get(action="sign_in.failed")
        assert (failed.actor_type, failed.details) == ("system", {"how": "password"})

    def test_tells_of_the_second_factor(self, client, acme, with_app):
        enter(client)
        client.post("/accounts/2fa/authenticate/", {"code": "000000"})
        client.post("/accounts/2fa/authenticate/", {"code": code_of()})

        failed = AuditEvent.objects.get(action="sign_in.failed")
        done = AuditEvent.objects.get(action="sign_in.succeeded")
        assert failed.details == {"how": "totp"}
        assert done.details == {"how": "password + totp"}

    def test_calls_a_wrong_password_of_who_is_signed_in_no_sign_in(self, client, acme, lee):
        enter_as(client, lee, minutes_ago=11)

        client.post("/accounts/reauthenticate/", {"password": "wrong"})

        assert actions(tenant=acme)[-1] == "proof.failed"
        failed = AuditEvent.objects.get(action="proof.failed")
        assert (failed.actor_type, failed.details) == ("system", {"how": "password"})

    def test_calls_a_wrong_code_of_who_is_signed_in_no_sign_in(self, client, acme, with_app, lee):
        enter_as(client, lee, factor="totp", minutes_ago=11)

        client.post("/accounts/2fa/reauthenticate/", {"code": "000000"})

        assert actions(tenant=acme)[-1] == "proof.failed"
        assert AuditEvent.objects.get(action="proof.failed").details == {"how": "totp"}

    def test_says_nothing_of_unknown_addresses(self, client, db):
        client.post("/accounts/login/", {"login": "nobody@acme.example", "password": "x"})

        assert AuditEvent.objects.count() == 0

    def test_tells_when_the_app_is_added_and_removed_and_mails_the_person(
        self, client, lee, django_capture_on_commit_callbacks
    ):
        enter(client)
        page = confirm(client, "/accounts/2fa/totp/activate/").content.decode()
        secret = re.findall(r"\b[A-Z2-7]{32}\b", page)[0]
        with django_capture_on_commit_callbacks(execute=True):
            client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)})
            client.post("/accounts/2fa/totp/deactivate/")

        emails.send_due(now=utc_now())

        told = [word for word in actions() if word.startswith("second_factor")]
        assert sorted(told) == [
            "second_factor.added",
            "second_factor.added",
            "second_factor.link_asked_for",
            "second_factor.removed",
            "second_factor.removed",
        ]
        assert sorted(message.subject for message in mail.outbox) == [
            "An authenticator app was added",
            "Set up your second factor for Ballast",
            "Somebody signed in with a new browser",
            "The authenticator app was removed",
        ]


class TestSecretsAtRest:
    def test_are_encrypted(self, with_app):
        app, codes = Authenticator.objects.order_by("-type")

        assert SECRET not in str(app.data)
        assert app.data["secret"].startswith("dev2:")
        assert codes.data["seed"].startswith("dev2:")

    def test_do_not_work_for_somebody_else(self, acme, lee, with_app):
        """Whoever can write the table puts their own secret into another person's row."""
        eve = make_member(acme, email="eve@acme.example")
        mine = {row.type: row.data for row in Authenticator.objects.filter(user=lee)}
        for kind, data in mine.items():
            Authenticator.objects.bulk_create([Authenticator(user=eve, type=kind, data=data)])
        app = Authenticator.objects.get(user=eve, type="totp")
        codes = Authenticator.objects.get(user=eve, type="recovery_codes")

        with pytest.raises(crypto.Undecryptable):
            app.wrap().validate_code(code_of())
        with pytest.raises(crypto.Undecryptable):
            codes.wrap().generate_codes()
        assert Authenticator.objects.get(user=lee, type="totp").wrap().validate_code(code_of())

    def test_of_an_earlier_release_work_and_are_bound_by_a_rotation(self, lee, with_app, settings):
        unbound = crypto.encrypt(SECRET, context="mfa.authenticator")
        Authenticator.objects.filter(type="totp").update(data={"secret": unbound})
        app = Authenticator.objects.get(type="totp")
        assert app.wrap().validate_code(code_of())
        settings.ENCRYPTION_KEYS = [f"new:hkdf:{'A' * 43}=", *settings.ENCRYPTION_KEYS]

        for column in rotation.columns():
            rotation.rotate(column)

        token = str(Authenticator.objects.get(type="totp").data["secret"])
        assert crypto.decrypt(token, context=f"mfa.authenticator:{lee.pk}") == SECRET

    def test_move_to_a_new_key(self, lee, with_app, settings):
        old = settings.ENCRYPTION_KEYS
        settings.ENCRYPTION_KEYS = [f"new:{'A' * 43}=", *old]
        encrypted = [column for column in rotation.columns() if column.name.startswith("mfa.")]

        outcomes = [rotation.rotate(column) for column in encrypted]

        assert [outcome.rotated for outcome in outcomes] == [1, 1]
        settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[:1]
        app = Authenticator.objects.get(type="totp")
        codes = Authenticator.objects.get(type="recovery_codes")
        assert app.wrap().validate_code(code_of())
        assert codes.wrap().generate_codes() == with_app


class TestPasskeys:
    def test_are_asked_for_by_our_own_name(self, client, lee, settings):
        settings.BASE_URL = "https://ballast.example"
        enter(client)

        response = confirm(client, "/accounts/2fa/webauthn/add/")

        asked = response.context["js_data"]["creation_options"]["publicKey"]
        assert asked["rp"] == {"id": "ballast.example", "name": "Ballast"}
        assert asked["user"]["name"] == "lee@acme.example"

    def test_open_the_door_without_telling_who_has_one(self, client, db):
        response = client.get(
            "/accounts/2fa/webauthn/login/", headers={"Accept": "application/json"}
        )

        assert response.status_code == 200
        assert response.json()["request_options"]["publicKey"].get("allowCredentials", []) == []


class TestSessions:
    def test_are_listed_with_browser_and_address(self, lee):
        client = Client(headers={"User-Agent": "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0"})
        enter(client)

        content = client.get("/accounts/sessions/").content.decode()

        assert "Firefox on Windows" in content
        assert "127.0.0.1" in content
        assert "This one" in content

    def test_one_is_ended(self, client, acme, lee):
        enter(client)
        other = Client()
        enter(other)
        page = client.get("/accounts/sessions/").content.decode()
        (path,) = re.findall(r"/accounts/sessions/\d+/end", page)

        response = client.post(path)

        assert response["Location"] == "/accounts/sessions/"
        assert other.get("/dashboard/").status_code == 302
        assert client.get("/dashboard/").status_code == 200
        assert actions(tenant=acme)[-1] == "session.ended"

    def test_of_another_person_is_left_alone(self, client, lee, ravi, sign_in):
        enter(client)
        session = lee.usersession_set.get()

        sign_in(ravi).post(f"/accounts/sessions/{session.pk}/end")

        assert client.get("/dashboard/").status_code == 200

    def test_all_others_end_with_a_new_password(self, client, lee):
        enter(client)
        other = Client()
        enter(other)

        client.post(
            "/accounts/password/change/",
            {
                "oldpassword": PASSWORD,
                "password1": "new horse battery",
                "password2": "new horse battery",
            },
        )

        assert client.get("/dashboard/").status_code == 200
        assert other.get("/dashboard/").status_code == 302

    def test_end_after_a_day(self, client, lee):
        enter(client)

        assert session_of(client).get_expiry_age() == 24 * 60 * 60

    @pytest.mark.parametrize(
        "path", ["/accounts/2fa/", "/accounts/sessions/", "/accounts/2fa/webauthn/add/"]
    )
    def test_and_secrets_are_never_cached(self, client, lee, path):
        enter(client)

        assert client.get(path)["Cache-Control"] == "private, no-store"
