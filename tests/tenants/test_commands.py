"""The commands of operators and of the demo: `--json` prints one object and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from django.core.management import CommandError, call_command

from tenants import scopes
from tenants.models import ApiKey, AuditEvent, Membership, OutgoingEmail, Switch, Tenant, User
from tests.builders import ApiClient, make_key, make_member

pytestmark = pytest.mark.django_db


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=err)
    assert err.getvalue() == ""
    assert len(out.getvalue().splitlines()) == 1
    return json.loads(out.getvalue())


def refusal(*arguments):
    out = StringIO()
    with pytest.raises(CommandError) as error:
        call_command(*arguments, "--json", stdout=out)
    assert out.getvalue() == ""
    return str(error.value)


class TestCreateTenant:
    @pytest.mark.parametrize("mode", ["sandbox", "live"])
    def test_prints_its_id(self, mode):
        result = run("create_tenant", "--name", "Acme", "--mode", mode)

        tenant = Tenant.objects.get()
        assert result == {"tenantId": tenant.pk}
        assert (tenant.name, tenant.mode) == ("Acme", mode)

    def test_refuses_another_mode(self):
        assert "invalid choice: 'test'" in refusal(
            "create_tenant", "--name", "Acme", "--mode", "test"
        )

    def test_refuses_an_unreadable_name(self):
        message = refusal("create_tenant", "--name", "x" * 121)

        assert message == "invalid_name: A name is 1 to 120 visible characters on one line."

    def test_prints_lines_for_people(self):
        out = StringIO()

        call_command("create_tenant", "--name", "Acme", stdout=out)

        assert out.getvalue() == f"tenantId: {Tenant.objects.get().pk}\n"


class TestCreateKey:
    def test_prints_a_key_that_works(self, acme):
        result = run("create_key", "--tenant", acme.pk)

        key = ApiKey.objects.get()
        assert result == {"keyId": key.pk, "apiKey": result["apiKey"]}
        assert (key.name, key.scopes, key.expires_at) == (
            "command line", sorted(scopes.ALL), None,
        )  # fmt: skip
        assert ApiClient(result["apiKey"]).get("/api/v1/balance/summary").status_code == 200

    def test_makes_one_that_may_not_loosen_auto_funding(self, acme):
        run("create_key", "--tenant", acme.pk)
        assert ApiKey.objects.get().may_loosen_auto_funding

        run("create_key", "--tenant", acme.pk, "--name", "strict", "--no-loosening")
        assert not ApiKey.objects.get(name="strict").may_loosen_auto_funding

    def test_narrows_and_names_and_ends_it(self, acme):
        run(
            "create_key", "--tenant", acme.pk, "--name", "books", "--scopes",
            "balance:read, funding:read", "--expires-at", "2030-01-31T00:00:00+01:00",
        )  # fmt: skip

        key = ApiKey.objects.get()
        assert (key.name, key.scopes) == ("books", ["balance:read", "funding:read"])
        assert key.expires_at == datetime(2030, 1, 30, 23, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--scopes", "balance:write"], "unknown_scope: Unknown: balance:write."),
            (["--scopes", ","], "invalid_key_settings: Choose at least one scope."),
            (["--scopes", ""], "invalid_key_settings: Choose at least one scope."),
            (["--expires-at", "tomorrow"], "--expires-at takes ISO 8601 with a zone"),
            (["--expires-at", "2030-01-31"], "--expires-at takes ISO 8601 with a zone"),
            (["--expires-at", "2030-01-31T00:00:00"], "--expires-at takes ISO 8601 with a zone"),
            (["--expires-at", "2030-02-31T00:00:00Z"], "--expires-at takes ISO 8601 with a zone"),
            (
                ["--expires-at", "2020-01-31T00:00:00Z"],
                "invalid_key_settings: The expiry must be in the future.",
            ),
            (["--name", ""], "invalid_name: A name is 1 to 120 visible characters on one line."),
        ],
    )
    def test_says_what_is_wrong(self, acme, options, message):
        assert refusal("create_key", "--tenant", acme.pk, *options).startswith(message)
        assert not ApiKey.objects.exists()

    def test_needs_a_tenant(self, db):
        assert refusal("create_key", "--tenant", "ten_1") == "There is no tenant ten_1."


class TestRevokeKey:
    def test_ends_it(self, acme):
        key = make_key(acme)
        key_id = ApiKey.objects.get().pk

        assert run("revoke_key", "--key", key_id) == {"keyId": key_id, "revoked": True}
        assert ApiClient(key).get("/api/v1/balance/summary").status_code == 401

    def test_twice_says_so(self, acme):
        make_key(acme)
        key_id = ApiKey.objects.get().pk
        run("revoke_key", "--key", key_id)

        assert refusal("revoke_key", "--key", key_id) == f"There is no usable key {key_id}."


class TestCreateUser:
    def test_gives_a_person_a_role(self, acme):
        result = run(
            "create_user", "--email", "dana@acme.example", "--tenant", acme.pk,
            "--role", "approver", "--password", "correct horse battery",
        )  # fmt: skip

        user = User.objects.get()
        assert result == {"userId": user.pk, "role": "approver"}
        assert user.check_password("correct horse battery")
        assert Membership.objects.get().role == "approver"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--email", "dana"], "Enter a valid e-mail address."),
            (["--password", "short"], "This password is too short."),
            (["--password", "password1234"], "This password is too common."),
            (["--role", "king"], "Error: argument --role: invalid choice: 'king'"),
        ],
    )
    def test_says_what_is_wrong(self, acme, options, message):
        given = {"--email": "dana@acme.example", "--role": "viewer"} | {options[0]: options[1]}
        flat = [part for pair in given.items() for part in pair]

        assert refusal("create_user", "--tenant", acme.pk, *flat).startswith(message)
        assert not User.objects.exists()

    def test_keeps_the_last_owner(self, acme):
        make_member(acme, email="dana@acme.example")

        message = refusal(
            "create_user", "--email", "dana@acme.example", "--tenant", acme.pk, "--role", "viewer"
        )

        assert message.startswith("A tenant keeps at least one owner.")
        assert Membership.objects.get().role == "owner"


class TestSuspendTenant:
    def test_stops_and_releases(self, acme):
        assert run("suspend_tenant", "--tenant", acme.pk) == {
            "tenantId": acme.pk,
            "status": "suspended",
        }
        assert Tenant.objects.get().status == "suspended"

        assert run("suspend_tenant", "--tenant", acme.pk, "--release")["status"] == "active"
        assert Tenant.objects.get().status == "active"
        assert AuditEvent.objects.filter(action="tenant.released").count() == 1


class TestStop:
    def test_engages_and_releases(self, acme):
        stopped = run("stop", "funding", "--tenant", acme.pk, "--reason", "Odd returns")
        assert stopped["stopped"] == "Funding is not sent to networks (Acme)"
        assert Switch.objects.get().engaged_by is None

        run("release_stop", "--switch", stopped["switchId"], "--reason", "All right")

        assert Switch.objects.get().release_reason == "All right"

    def test_says_what_is_not_possible(self, acme):
        run("stop", "webhooks", "--reason", "x")

        assert "switch_engaged" in refusal("stop", "webhooks", "--reason", "x")
        assert "There is no network" in refusal(
            "stop", "funding", "--network", "n", "--reason", "x"
        )
        assert "There is no switch" in refusal("release_stop", "--switch", "s", "--reason", "x")


class TestResetSecondFactor:
    def test_takes_everything_ends_sessions_and_tells(self, acme):
        lee = make_member(acme, email="lee@acme.example")
        TOTP.activate(lee, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        RecoveryCodes.activate(lee)
        UserSession.objects.create(user=lee, ip="198.51.100.7", session_key="k", user_agent="x")

        result = run("reset_second_factor", "--email", "Lee@acme.example", "--reason", "Lost phone")

        assert result == {"userId": lee.pk, "removed": 2}
        assert not Authenticator.objects.exists()
        assert not UserSession.objects.exists()
        mails = set(OutgoingEmail.objects.values_list("template", "to"))
        # One tells the person, the other one the owners, of whom lee is the only one.
        assert mails == {
            ("account_changed", "lee@acme.example"),
            ("access_changed", "lee@acme.example"),
        }
        event = AuditEvent.objects.get(action="second_factor.reset")
        assert event.details == {"email": "lee@acme.example", "reason": "Lost phone"}
        assert AuditEvent.objects.get(action="second_factor.reset_by_support").tenant == acme

    def test_does_nothing_to_who_has_none(self, acme):
        make_member(acme, email="lee@acme.example")

        result = run("reset_second_factor", "--email", "lee@acme.example", "--reason", "x")

        assert result["removed"] == 0
        assert not OutgoingEmail.objects.exists()

    def test_needs_somebody_we_know(self, db):
        told = refusal("reset_second_factor", "--email", "nobody@acme.example", "--reason", "x")

        assert told == "Nobody signs in as nobody@acme.example."
