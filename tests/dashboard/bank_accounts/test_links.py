"""The page that runs the provider's module, seen from the server."""

from __future__ import annotations

import re

import pytest
from django.db import IntegrityError, connection
from django.test import Client

from common.clock import utc_now
from funding.models import FundingSource, LinkConsent
from tenants.models import Mode, Role, Tenant, TenantStatus
from tests import plaid as played
from tests.builders import browser_of, enter_as, make_member, make_staff, make_tenant, session_of
from tests.database import owner
from tests.plaid import ACCESS_TOKEN, ACCOUNT_ID, NUMBER, PUBLIC_TOKEN

ROOT = "/dashboard/bank-accounts"
PAGE = f"{ROOT}/link"
POLICY = "Content-Security-Policy"


def found(pattern, text):
    """The one group of a pattern that must be there."""
    match = re.search(pattern, text)
    assert match
    return match[1]


def form_token(page):
    return found(r'name="token" value="([^"]+)"', page)


@pytest.fixture
def acme(db):
    return make_tenant(name="Acme", mode=Mode.LIVE)


@pytest.fixture
def sent(acme, dana_browser):
    """The fields of a form that the module has filled in."""

    def of(**changes):
        page = dana_browser.get(PAGE).content.decode()
        return {
            "acting_for": acme.pk,
            "token": form_token(page),
            "public_token": PUBLIC_TOKEN,
            "account_id": ACCOUNT_ID,
            "holder_name": "Acme Inc",
            **changes,
        }

    return of


def directives(response):
    """The policy of an answer, `{directive: sources}`."""
    parts = [part.split() for part in response[POLICY].split(";")]
    return {name: set(sources) for name, *sources in parts}


class TestPage:
    def test_carries_the_token_and_the_script_of_the_provider(self, plaid, dana_browser):
        response = dana_browser.get(PAGE)

        page = response.content.decode()
        assert response.status_code == 200
        assert 'data-token="link-sandbox-1"' in page
        assert f'data-script="{plaid.url}/link-initialize.js"' in page
        assert 'value="Acme"' in page
        assert "This needs JavaScript" in page

    def test_never_shows_what_the_provider_must_not_lose(self, plaid, dana_browser):
        page = dana_browser.get(PAGE).content.decode()

        assert played.SECRET not in page
        assert played.CLIENT_ID not in page

    def test_allows_what_the_provider_documents_and_nothing_unsafe(self, plaid, dana_browser):
        ordinary = directives(dana_browser.get(ROOT))
        response = dana_browser.get(PAGE)
        allowed = directives(response)

        nonce = found(r"('nonce-[\w+/=]+')", response[POLICY])
        more = {name: allowed[name] - ordinary.get(name, set()) for name in allowed}
        assert {name: sources for name, sources in more.items() if sources} == {
            "script-src": {f"{plaid.url}/link-initialize.js", nonce},
            "style-src": {nonce},
            "frame-src": {f"{plaid.url}/"},
            "connect-src": {f"{plaid.url}/"},
        }
        assert all(ordinary[name] <= allowed[name] for name in ordinary)
        assert "unsafe" not in response[POLICY]
        assert response["Cross-Origin-Opener-Policy"] == "same-origin-allow-popups"
        assert response["Cache-Control"] == "private, no-store"

    def test_has_another_nonce_every_time(self, plaid, dana_browser):
        policies = {dana_browser.get(PAGE)[POLICY] for _ in range(3)}

        assert len(policies) == 3

    @pytest.mark.parametrize("path", [ROOT, f"{ROOT}/enter", "/dashboard/", "/docs/"])
    def test_leaves_the_policy_of_others_as_it_is(self, plaid, dana_browser, path):
        before = dana_browser.get(path)[POLICY]
        dana_browser.get(PAGE)
        after = dana_browser.get(path)

        assert after[POLICY] == before
        assert plaid.url not in before
        assert "nonce" not in before
        assert after["Cross-Origin-Opener-Policy"] == "same-origin"

    def test_is_offered_on_the_list(self, plaid, dana_browser):
        assert PAGE in dana_browser.get(ROOT).content.decode()


class TestWithoutTheModule:
    """The page says why, offers what is possible, and allows nothing more than others do."""

    def test_when_no_provider_is_connected(self, dana_browser):
        response = dana_browser.get(PAGE)

        assert "Linking is not set up" in response.content.decode()
        assert f"{ROOT}/enter" in response.content.decode()
        assert response[POLICY] == dana_browser.get(ROOT)[POLICY]
        listed = dana_browser.get(ROOT).content.decode()
        assert PAGE not in listed
        assert "Bank linking is not set up" in listed

    def test_when_the_provider_does_not_answer(self, plaid, dana_browser):
        plaid.refuses("/link/token/create", "INTERNAL_SERVER_ERROR", status=500)

        response = dana_browser.get(PAGE)

        assert response.status_code == 200
        assert "We cannot reach Plaid" in response.content.decode()
        assert response[POLICY] == dana_browser.get(ROOT)[POLICY]

    def test_in_the_sandbox(self, plaid, acme, dana_browser):
        with owner.as_superuser(triggers=False):
            Tenant.objects.update(mode=Mode.SANDBOX)

        page = dana_browser.get(PAGE).content.decode()

        assert f"{ROOT}/pick" in page
        assert plaid.requests == []

    def test_of_a_suspended_tenant(self, plaid, acme, dana_browser):
        acme.status = TenantStatus.SUSPENDED
        acme.save(update_fields=["status"])

        assert b"You cannot link a bank right now" in dana_browser.get(PAGE).content
        assert plaid.requests == []

    def test_is_no_way_to_send_a_form(self, acme, dana_browser):
        fields = {"acting_for": acme.pk, "public_token": PUBLIC_TOKEN, "account_id": ACCOUNT_ID}

        response = dana_browser.post(PAGE, fields | {"holder_name": "Acme"})

        assert response.status_code == 422
        assert not FundingSource.objects.exists()


class TestSending:
    def test_adds_the_account_that_was_chosen(self, plaid, acme, dana, dana_browser, sent):
        response = dana_browser.post(PAGE, sent(), follow=True)

        source = FundingSource.objects.get()
        assert (source.type, source.status, source.tenant) == ("linked", "active", acme)
        assert source.account_holder_name == "Acme Inc"
        assert b"0000 was linked." in response.content
        assert NUMBER not in response.content.decode()
        [exchanged] = plaid.bodies("/item/public_token/exchange")
        assert exchanged["public_token"] == PUBLIC_TOKEN
        [asked] = plaid.bodies("/auth/get")
        assert asked["options"] == {"account_ids": [ACCOUNT_ID]}

    def test_twice_adds_one(self, plaid, dana_browser, sent):
        form = sent()
        dana_browser.post(PAGE, form)

        response = dana_browser.post(PAGE, form, follow=True)

        assert b"You already sent this form." in response.content
        assert FundingSource.objects.count() == LinkConsent.objects.count() == 1
        assert plaid.paths().count("/item/public_token/exchange") == 1

    @pytest.mark.parametrize("missing", ["public_token", "account_id"])
    def test_nothing_chosen_asks_nobody(self, plaid, dana_browser, sent, missing):
        response = dana_browser.post(PAGE, sent(**{missing: ""}))

        assert response.status_code == 422
        assert b"Connect a bank first" in response.content
        assert set(plaid.paths()) == {"/link/token/create"}

    @pytest.mark.parametrize("name", ["", "<b>", "x" * 121])
    def test_a_name_that_is_none_is_said_next_to_it(self, plaid, dana_browser, sent, name):
        response = dana_browser.post(PAGE, sent(holder_name=name))

        assert response.status_code == 422
        assert b'id="id_holder_name_error"' in response.content
        assert set(plaid.paths()) == {"/link/token/create"}

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            ("ITEM_LOGIN_REQUIRED", "needs you to sign in on its own site first"),
            ("NO_AUTH_ACCOUNTS", "choose a checking or savings account"),
            ("INVALID_ACCOUNT_ID", "did not share this account"),
            ("INSTITUTION_DOWN", "nothing was added"),
        ],
    )
    def test_shows_in_words_what_the_provider_refuses(self, plaid, dana_browser, sent, code, said):
        form = sent()
        plaid.refuses("/auth/get", code)

        response = dana_browser.post(PAGE, form)

        page = response.content.decode()
        assert response.status_code == 422
        assert said in page
        assert "token" not in re.sub(r"<[^>]+>", "", page)
        assert PUBLIC_TOKEN not in page
        assert not FundingSource.objects.exists()

    def test_can_be_tried_again_after_a_refusal(self, plaid, acme, dana_browser, sent):
        plaid.refuses("/auth/get", "INSTITUTION_DOWN")
        form = sent()
        page = dana_browser.post(PAGE, form).content.decode()
        plaid.public_tokens.add("public-sandbox-2")

        again = form | {"token": form_token(page), "public_token": "public-sandbox-2"}
        dana_browser.post(PAGE, again)

        assert 'data-token="link-sandbox-' in page
        assert FundingSource.objects.count() == 1

    def test_can_be_sent_again_after_an_error_of_ours(self, plaid, dana_browser, sent):
        form = sent()
        table = "ALTER TABLE funding_fundingsource"
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute(f"{table} ADD CONSTRAINT broken CHECK (false) NOT VALID")
        with pytest.raises(IntegrityError, match="broken"):
            dana_browser.post(PAGE, form)
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute(f"{table} DROP CONSTRAINT broken")
        plaid.public_tokens.add(PUBLIC_TOKEN)

        response = dana_browser.post(PAGE, form, follow=True)

        assert b"0000 was linked." in response.content
        assert FundingSource.objects.count() == 1

    def test_names_the_account_that_is_there_already(self, plaid, dana_browser, sent):
        dana_browser.post(PAGE, sent())
        plaid.public_tokens.add("public-sandbox-2")

        response = dana_browser.post(PAGE, sent(public_token="public-sandbox-2"))

        assert response.status_code == 422
        there = FundingSource.objects.get()
        assert f"This account is already here as {there.pk}." in response.content.decode()
        assert FundingSource.objects.count() == 1

    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_is_for_owners_and_members(self, plaid, acme, sign_in, sent, role):
        browser = sign_in(make_member(acme, email="x@acme.example", role=role))
        form = sent()

        assert browser.get(PAGE).status_code == 403
        assert browser.post(PAGE, form).status_code == 403
        assert PAGE not in browser.get(ROOT).content.decode()
        assert not FundingSource.objects.exists()

    def test_is_refused_from_another_site(self, plaid, acme, dana, sent):

        strict = Client(enforce_csrf_checks=True)
        enter_as(strict, dana)

        refused = strict.post(PAGE, sent())
        assert refused.status_code == 403
        assert not FundingSource.objects.exists()

        page = strict.get(PAGE).content.decode()
        proof = found(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        strict.post(PAGE, sent(csrfmiddlewaretoken=proof))
        assert FundingSource.objects.count() == 1  # that proof alone was missing

    def test_with_a_token_of_another_form_starts_over(self, plaid, dana_browser, sent):
        response = dana_browser.post(PAGE, sent(token="x"))

        assert response.status_code == 422
        assert b"This form has expired." in response.content
        assert not FundingSource.objects.exists()
        assert set(plaid.paths()) == {"/link/token/create"}


def test_without_a_registered_address_the_provider_is_told_no_way_back(plaid, dana_browser):
    dana_browser.get(PAGE)

    [asked] = plaid.bodies("/link/token/create")
    assert "redirect_uri" not in asked


class TestWayBack:
    """From a bank's own page, which leads to ours with `oauth_state_id`."""

    @pytest.fixture(autouse=True)
    def _registered(self, settings):
        settings.PLAID_RETURN = True

    def test_is_told_to_the_provider(self, plaid, settings, dana_browser):
        dana_browser.get(PAGE)

        [asked] = plaid.bodies("/link/token/create")
        assert asked["redirect_uri"] == settings.BASE_URL + PAGE

    def test_leads_to_the_same_session(self, plaid, dana_browser):
        dana_browser.get(PAGE)

        page = dana_browser.get(PAGE, {"oauth_state_id": "9d5feadd"}).content.decode()

        assert 'data-token="link-sandbox-1"' in page
        assert plaid.paths() == ["/link/token/create"]

    def test_leads_nobody_else_there(self, plaid, acme, dana_browser, sign_in):
        dana_browser.get(PAGE)
        other = sign_in(make_member(acme, email="x@acme.example", role=Role.OWNER))

        page = other.get(PAGE, {"oauth_state_id": "9d5feadd"}).content.decode()

        assert 'data-token="link-sandbox-2"' in page

    def test_leads_to_no_other_tenant(self, plaid, acme, dana, dana_browser):
        dana_browser.get(PAGE)
        other = make_tenant(name="Other", mode=Mode.LIVE)
        make_member(other, email=dana.email, role=Role.OWNER)
        dana_browser.post("/dashboard/tenant", {"tenant": other.pk, "acting_for": acme.pk})

        page = dana_browser.get(PAGE, {"oauth_state_id": "9d5feadd"}).content.decode()

        assert 'data-token="link-sandbox-2"' in page


class TestStaffWhoLook:
    """As the tenant, they see the page and open nothing at the provider."""

    @pytest.fixture
    def desk(self, acme):
        browser = browser_of(make_staff("sam@ballast.example"))
        address = f"/admin/desk/tenants/{acme.pk}/view-as/"
        assert browser.post(address, {"reason": "Ticket 4711"}).status_code == 302
        return browser

    def test_begin_no_session(self, plaid, desk):
        page = desk.get(PAGE).content.decode()

        assert "You cannot link a bank right now" in page
        assert "data-token" not in page
        assert plaid.paths() == []

    def test_come_back_to_none(self, plaid, acme, desk):
        session = session_of(desk)
        session["bank_link"] = {"tenant": acme.pk, "token": "link-sandbox-1"}
        session.save()

        page = desk.get(PAGE, {"oauth_state_id": "9d5feadd"}).content.decode()

        assert "You cannot link a bank right now" in page
        assert "link-sandbox-1" not in page

    def test_hand_over_no_account(self, plaid, desk, sent):
        fields = sent()

        assert desk.post(PAGE, fields).status_code == 403
        assert not FundingSource.objects.exists()
        assert plaid.paths() == ["/link/token/create"]


def test_removing_the_account_ends_the_consent(plaid, acme, dana_browser, sent):
    dana_browser.post(PAGE, sent())
    source = FundingSource.objects.get()
    asked = dana_browser.get(f"{ROOT}/{source.pk}/remove").content
    assert b"We tell Plaid to end our access" in asked

    dana_browser.post(f"{ROOT}/{source.pk}/remove", {"acting_for": acme.pk})

    consent = LinkConsent.objects.get()
    assert consent.next_attempt_at is not None
    assert consent.next_attempt_at <= utc_now()
    assert plaid.consents == {ACCESS_TOKEN}
