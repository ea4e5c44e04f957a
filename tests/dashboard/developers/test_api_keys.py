from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from common.clock import utc_now
from dashboard.developers.api_keys.forms import ApiKeyForm, RotateForm
from tenants import scopes
from tenants.actors import SYSTEM, api_key, staff, user
from tenants.models import ApiKey, AuditEvent, Mode, Role, User
from tenants.services import keys
from tests.builders import NOW, ApiClient, make_key, make_member, make_tenant
from tests.payments.test_left_payments import pay

ROOT = "/dashboard/api-keys"


@pytest.fixture
def key(acme):
    make_key(acme)
    return ApiKey.objects.get()


def wish(tenant, **fields):
    values = {"acting_for": tenant.pk, "name": "billing", "scopes": ["balance:read"]}
    return values | {"token": token_of(ApiKeyForm, tenant)} | fields


def token_of(form, tenant, **about):
    return form(tenant=tenant, **about)["token"].value()


def key_in(response):
    (text,) = re.findall(r"bal_test_\w+", response.content.decode())
    return text


class TestCreating:
    def test_shows_a_working_key_once(self, acme, dana, dana_browser):
        response = dana_browser.post(f"{ROOT}/new", wish(acme))

        text = response.context["issued"].text
        assert text in response.content.decode()
        assert response["Cache-Control"] == "private, no-store"
        assert ApiClient(text).get("/api/v1/balance/summary").status_code == 200
        assert text not in dana_browser.get(ROOT).content.decode()
        assert AuditEvent.objects.get(action="api_key.issued").actor_id == dana.pk

    def test_gives_only_the_scopes_that_were_ticked(self, acme, dana_browser):
        dana_browser.post(f"{ROOT}/new", wish(acme))

        assert ApiKey.objects.get().scopes == ["balance:read"]

    @pytest.mark.parametrize(
        "fields", [{"name": ""}, {"scopes": []}, {"scopes": ["everything:write"]}]
    )
    def test_explains_what_is_missing(self, acme, dana_browser, fields):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, **fields))

        assert response.status_code == 422
        assert f"id_{next(iter(fields))}_error" in response.content.decode()
        assert not ApiKey.objects.exists()

    def test_says_when_there_are_too_many(self, acme, dana_browser):
        for _ in range(20):
            make_key(acme)

        response = dana_browser.post(f"{ROOT}/new", wish(acme))

        assert response.status_code == 422
        assert b"already has 20 usable keys" in response.content

    def test_by_a_double_click_makes_one_key_and_shows_it_both_times(self, acme, dana_browser):
        sent = wish(acme)

        first, second = (dana_browser.post(f"{ROOT}/new", sent) for _ in range(2))

        assert key_in(first) == key_in(second)
        assert ApiKey.objects.count() == 1
        assert AuditEvent.objects.filter(action="api_key.issued").count() == 1

    def test_can_be_repeated_for_an_hour_only(self, acme, dana, dana_browser, sign_in):
        with time_machine.travel(utc_now() - timedelta(minutes=61), tick=False):
            sent = wish(acme)

        response = dana_browser.post(f"{ROOT}/new", sent)

        assert response.status_code == 422
        assert b"This form has expired." in response.content
        fresh = response.context["form"]["token"].value()
        assert dana_browser.post(f"{ROOT}/new", sent | {"token": fresh}).status_code == 200

    @pytest.mark.parametrize("token", ["", "nonsense", "a" * 1001])
    def test_without_a_token_of_ours_makes_nothing(self, acme, dana_browser, token):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, token=token))

        assert response.status_code == 422
        assert not ApiKey.objects.exists()

    def test_with_a_token_of_another_tenant_makes_nothing(self, acme, rival, dana_browser):
        sent = wish(acme, token=token_of(ApiKeyForm, rival))

        assert dana_browser.post(f"{ROOT}/new", sent).status_code == 422
        assert not ApiKey.objects.exists()

    def test_explains_all_mistakes_at_once(self, acme, dana_browser):
        sent = wish(acme, name="", networks="10.0.0.1/8")

        content = dana_browser.post(f"{ROOT}/new", sent).content

        assert b"Give the key a name." in content
        assert b"10.0.0.1/8 is not a network" in content

    def test_takes_a_last_day_and_networks(self, acme, dana_browser):
        sent = wish(acme, expires_on="2099-03-31", networks="203.0.113.7\r\n10.0.0.0/8 \r\n")

        dana_browser.post(f"{ROOT}/new", sent)

        key = ApiKey.objects.get()
        assert key.expires_at == datetime(2099, 4, 1, tzinfo=UTC)
        assert key.allowed_networks == ["203.0.113.7", "10.0.0.0/8"]

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"expires_on": "2020-01-01"}, "must be in the future"),
            ({"expires_on": "soon"}, "Enter a date"),
            ({"expires_on": "9999-12-31"}, "up to the year 2100"),
            ({"networks": "10.0.0.1/8"}, "10.0.0.1/8 is not a network"),
            ({"networks": "\0"}, "Remove the characters"),
            ({"name": "\0"}, "visible characters"),
            ({"name": "a\u202eb"}, "visible characters"),
        ],
    )
    def test_explains_what_is_wrong_next_to_the_field(self, acme, dana_browser, fields, words):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, **fields))

        assert response.status_code == 422
        assert words in str(response.context["form"].errors[next(iter(fields))])
        assert not ApiKey.objects.exists()


class TestRotating:
    def test_shows_the_new_key_and_keeps_the_old_one_for_a_while(self, acme, key, dana_browser):
        path = f"{ROOT}/{key.pk}/rotate"
        assert key.prefix in dana_browser.get(path).content.decode()
        sent = {
            "acting_for": acme.pk,
            "token": token_of(RotateForm, acme, about=key.pk),
            "overlap": "3600",
        }

        now = utc_now()
        with time_machine.travel(now, tick=False):
            first, second = (dana_browser.post(path, sent) for _ in range(2))

        assert key_in(first) == key_in(second)
        key.refresh_from_db()
        assert key.expires_at == now + timedelta(hours=1)
        assert ApiKey.objects.count() == 2
        assert AuditEvent.objects.filter(action="api_key.rotated").count() == 1

    def test_with_the_form_of_another_key_changes_nothing(self, acme, key, dana_browser):
        token = token_of(RotateForm, acme, about="key_another")
        sent = {"acting_for": acme.pk, "token": token, "overlap": "3600"}

        assert dana_browser.post(f"{ROOT}/{key.pk}/rotate", sent).status_code == 422
        assert ApiKey.objects.count() == 1

    @pytest.mark.parametrize("overlap", ["", "5", "604801", "-1", "nan"])
    def test_takes_only_the_offered_overlaps(self, acme, key, dana_browser, overlap):
        sent = {
            "acting_for": acme.pk,
            "token": token_of(RotateForm, acme, about=key.pk),
            "overlap": overlap,
        }

        assert dana_browser.post(f"{ROOT}/{key.pk}/rotate", sent).status_code == 422
        assert ApiKey.objects.count() == 1

    def test_of_a_revoked_key_is_refused(self, acme, key, dana_browser):
        ApiKey.objects.update(revoked_at=utc_now())
        sent = {
            "acting_for": acme.pk,
            "token": token_of(RotateForm, acme, about=key.pk),
            "overlap": "0",
        }

        response = dana_browser.post(f"{ROOT}/{key.pk}/rotate", sent)

        assert response.status_code == 422
        assert b"revoked or expired" in response.content


class TestList:
    def test_says_what_each_key_may_do(self, key, dana_browser):
        content = dana_browser.get(ROOT).content.decode()

        assert key.prefix in content
        assert "Everything" in content
        assert "Never" in content

    @pytest.mark.parametrize(
        ("days", "words"), [(7, "Expires soon"), (8, "Active"), (-1, "Expired")]
    )
    def test_warns_before_a_key_ends(self, key, dana_browser, days, words):
        ApiKey.objects.update(expires_at=utc_now() + timedelta(days=days))

        assert words in dana_browser.get(ROOT).content.decode()

    def test_hides_other_tenants(self, key, ravi, sign_in):
        assert key.prefix not in sign_in(ravi).get(ROOT).content.decode()


class TestRevoking:
    def test_asks_first_then_ends_the_key(self, acme, key, dana_browser):
        path = f"{ROOT}/{key.pk}/revoke"
        ApiKey.objects.update(last_used_at=datetime(2026, 11, 20, 15, tzinfo=UTC))
        question = dana_browser.get(path).content.decode()
        assert "cannot be undone" in question
        assert "Revoke test" in question
        assert "Nov 20, 2026, 10:00 AM EST" in question
        assert ApiKey.objects.get().revoked_at is None

        dana_browser.post(path, {"acting_for": acme.pk})

        assert ApiKey.objects.get().revoked_at is not None
        assert AuditEvent.objects.filter(action="api_key.revoked").count() == 1

    def test_says_what_becomes_of_payments_that_are_not_sent_yet(self, acme, dana, dana_browser):
        key = keys.issue(tenant=acme, name="server", actor=user(dana.pk), now=NOW).key
        path = f"{ROOT}/{key.pk}/revoke"
        assert "not sent yet" not in dana_browser.get(path).content.decode()

        pay(acme, api_key(key.pk), wait=True)
        alone = dana_browser.get(path).content.decode()
        make_member(acme, email="lee@acme.example", role=Role.OWNER)
        beside = dana_browser.get(path).content.decode()

        assert "1 payment of this key is not sent yet" in alone
        assert "Nobody without the key could approve it, so it is still sent." in alone
        assert "1 payment of this key is not sent yet" in beside
        assert "It waits until somebody who did not have the key approves" in beside

    def test_of_another_tenant_finds_nothing(self, key, rival, ravi, sign_in):
        path = f"{ROOT}/{key.pk}/revoke"

        assert sign_in(ravi).post(path, {"acting_for": rival.pk}).status_code == 404
        assert ApiKey.objects.get().revoked_at is None

    def test_from_a_stale_window_does_nothing(self, key, rival, dana_browser):
        response = dana_browser.post(f"{ROOT}/{key.pk}/revoke", {"acting_for": rival.pk})

        assert response.status_code == 409
        assert ApiKey.objects.get().revoked_at is None


class TestWho:
    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_is_no_owner_neither_creates_nor_revokes(self, acme, key, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert browser.post(f"{ROOT}/new", wish(acme, scopes=scopes.ALL)).status_code == 403
        assert browser.get(f"{ROOT}/{key.pk}/rotate").status_code == 403
        revoked = browser.post(f"{ROOT}/{key.pk}/revoke", {"acting_for": acme.pk})
        assert revoked.status_code == 403
        assert browser.get(ROOT).status_code == (200 if role == Role.MEMBER else 403)
        assert ApiKey.objects.get().revoked_at is None


class TestMaker:
    def test_is_shown_by_address_and_our_staff_by_no_name(self, acme, dana, dana_browser):
        sam = User.objects.create_user(email="sam@ballast.example", is_staff=True)
        for actor in (user(dana.pk), staff(sam.pk), SYSTEM):
            keys.issue(tenant=acme, name="server", actor=actor, now=utc_now())

        content = dana_browser.get(ROOT).content.decode()

        assert content.count("Acts for dana@acme.example") == 1
        assert content.count("Acts for Support") == 1
        assert content.count("Acts for") == 2
        assert "sam@ballast.example" not in content


class TestLoosening:
    """The switch *may loosen auto-funding* of a live key."""

    def turn(self, browser, tenant, key, allowed):
        return browser.post(
            f"{ROOT}/{key.pk}/auto-funding",
            {"acting_for": tenant.pk, "allowed": allowed},
            follow=True,
        )

    def test_is_turned_off_and_on_by_an_owner(self, acme, key, dana_browser):
        shown = dana_browser.get(f"{ROOT}/{key.pk}/auto-funding").content.decode()
        assert "It can now" in shown
        assert "Turn off" in shown

        off = self.turn(dana_browser, acme, key, "no").content.decode()
        key.refresh_from_db()
        assert not key.may_loosen_auto_funding
        assert "can no longer loosen auto-funding." in off
        assert "Cannot loosen auto-funding" in off
        assert "Turn on" in dana_browser.get(f"{ROOT}/{key.pk}/auto-funding").content.decode()

        self.turn(dana_browser, acme, key, "yes")
        key.refresh_from_db()
        assert key.may_loosen_auto_funding

    def test_stays_off_by_a_form_that_does_not_say_yes(self, acme, key, dana_browser):
        self.turn(dana_browser, acme, key, "no")
        self.turn(dana_browser, acme, key, "")

        key.refresh_from_db()
        assert not key.may_loosen_auto_funding

    def test_is_chosen_when_a_live_key_is_made(self, db, sign_in):
        live = make_tenant(mode=Mode.LIVE)
        browser = sign_in(make_member(live, email="ann@acme.example"))
        assert b"Cannot loosen auto-funding" in browser.get(f"{ROOT}/new").content

        browser.post(f"{ROOT}/new", wish(live, forbids_loosening="on"))

        made = ApiKey.objects.get()
        assert not made.may_loosen_auto_funding
        assert f"{ROOT}/{made.pk}/auto-funding" in browser.get(ROOT).content.decode()

    def test_is_not_offered_in_the_sandbox(self, acme, key, dana_browser):
        assert b"Cannot loosen" not in dana_browser.get(f"{ROOT}/new").content
        assert b"/auto-funding" not in dana_browser.get(ROOT).content.partition(b"<main")[2]
        page = dana_browser.get(f"{ROOT}/{key.pk}/auto-funding").content
        assert b"In the sandbox every key can do this" in page

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_is_for_owners(self, acme, key, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert self.turn(browser, acme, key, "no").status_code == 403
        key.refresh_from_db()
        assert key.may_loosen_auto_funding

    def test_of_another_tenant_is_not_found(self, key, rival, ravi, sign_in):
        assert self.turn(sign_in(ravi), rival, key, "no").status_code == 404
        key.refresh_from_db()
        assert key.may_loosen_auto_funding
