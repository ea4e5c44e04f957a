"""With another brand nobody reads our own name: on pages, in e-mails, in an authenticator app."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from config.openapi_settings import SPECTACULAR_SETTINGS
from devstack.paths import ROOT
from funding import agreements
from tenants.models import Role
from tenants.second_factor import Adapter
from tests.brand.worn import HELP, LOGO, MAILBOX, NAME, PALETTE, SHOWN, left, wear
from tests.builders import NOW, browser_of, make_member, make_source, make_staff
from tests.dashboard.shell.test_roles import MONTHS, pages, things_of
from tests.dashboard.test_emails import CONTEXTS, sent
from tests.desk.test_every_page import address as desk_address
from tests.desk.test_every_page import each as desk_pages

pytestmark = pytest.mark.django_db

ERRORS = sorted(path.stem for path in (ROOT / "templates").glob("[45]*.html"))
ORIGINAL = {name: getattr(settings, name) for name in ("BRAND_NAME", "BRAND_PALETTE", "BRAND_LOGO")}
address = desk_address


@pytest.fixture(autouse=True)
def _harborline(settings):
    wear(settings)


def text_of(response):
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return content.decode("utf-8", "replace")


def patterns_without_ids(namespace):
    resolver = get_resolver().namespace_dict[namespace][1]
    return [
        pattern.name
        for pattern in resolver.url_patterns
        if isinstance(pattern, URLPattern) and not pattern.pattern.converters
    ]


class TestTenantPages:
    @pytest.fixture
    def dana_browser(self, acme):
        return browser_of(make_member(acme, email="dana@acme.example", role=Role.OWNER))

    def test_say_the_other_name(self, acme, dana_browser):
        things = things_of(acme)
        found, seen = {}, 0
        for name, named in pages().items():
            months = MONTHS.get(name, {})
            path = reverse(f"dashboard:{name}", kwargs={key: things[key] for key in named} | months)
            response = dana_browser.get(path)
            text = text_of(response)
            if response.status_code == 200 and "<html" in text:
                seen += 1
                assert SHOWN in text, path
            if places := left(text):
                found[path] = places

        assert found == {}
        assert seen > 40

    def test_of_documentation_too(self, dana_browser):
        paths = [reverse(f"docs:{name}") for name in patterns_without_ids("docs")]
        paths += [reverse("docs:resource", args=["payments"])]
        found = {
            path: places for path in paths if (places := left(text_of(dana_browser.get(path))))
        }

        assert found == {}

    def test_of_accounts_too(self, dana_browser):
        paths = ["/accounts/password/change/", "/accounts/2fa/", "/accounts/2fa/totp/activate/"]
        paths += [reverse("profile"), reverse("usersessions_list"), "/accounts/reauthenticate/"]
        for path in paths:
            text = text_of(dana_browser.get(path))
            assert left(text) == [], path

    @pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/password/reset/", "/nowhere"])
    def test_of_strangers_say_where_help_is(self, path):
        text = text_of(Client().get(path))

        assert left(text) == []
        assert f'href="mailto:{MAILBOX}"' in text
        assert f'href="{HELP}"' in text

    @pytest.mark.parametrize("name", ERRORS)
    def test_of_errors_need_no_request(self, name):
        text = render_to_string(f"{name}.html")

        assert left(text) == []
        assert SHOWN in text
        assert MAILBOX in text


class TestDesk:
    def test_says_the_other_name(self, acme, address):
        desk = browser_of(make_staff("lee@ballast.example", None))
        found, seen = {}, 0
        for name in sorted(desk_pages("read")):
            text = text_of(desk.get(address(name)))
            seen += SHOWN in text and "/logo.svg" in text
            if places := left(text):
                found[name] = places

        assert found == {}
        assert seen > 40


class TestMails:
    @pytest.mark.parametrize("template", sorted(CONTEXTS))
    def test_say_the_other_name_and_where_help_is(self, template, mailoutbox):
        subject, text, html = sent(template)

        assert left(subject + text + html) == []
        assert "&amp;" not in subject + text
        assert f"{NAME} never asks" in text
        for part in (text, html):
            assert MAILBOX in part
            assert HELP in part
        assert "#0a625d" not in html
        assert mailoutbox[-1].from_email.startswith('"Harborline & Co"')


class TestElsewhere:
    def test_an_authenticator_app_and_a_passkey(self):
        adapter = Adapter()

        assert adapter.get_totp_issuer() == NAME
        assert adapter.get_public_key_credential_rp_entity()["name"] == NAME

    def test_what_account_holders_agree_to(self, acme):
        source = make_source(acme)
        wordings = [
            agreements.one_topup(source, tenant_name="Acme", amount=100, now=NOW),
            agreements.rule(
                source, tenant_name="Acme", amount=100, threshold=50, monthly_limit=None
            ),
            agreements.standing(tenant_name="Acme", most=100, is_new=True),
        ]

        assert all(each.text.startswith(f"I authorize {NAME} to debit") for each in wordings)
        assert left("".join(each.text + each.revocation for each in wordings)) == []

    def test_the_document_of_the_api(self):
        assert SPECTACULAR_SETTINGS["TITLE"] == f"{ORIGINAL['BRAND_NAME']} API"


class TestFiles:
    def test_the_accent_is_a_stylesheet_of_our_own_address(self):
        page = text_of(Client().get("/accounts/login/"))
        path = page.partition("/brand.css")[0].rpartition('"')[2] + "/brand.css"

        response = Client().get(path)

        assert path.startswith("/brand/")
        assert response["Content-Type"] == "text/css; charset=utf-8"
        assert "immutable" in response["Cache-Control"]
        assert f"--accent: light-dark(#1d4ed8, {PALETTE.dark.accent});" in text_of(response)
        assert page.index("/brand.css") > page.index("css/components.css")

    def test_the_policy_of_pages_stays_as_strict(self):
        response = Client().get("/accounts/login/")

        assert "style-src 'self';" in response["Content-Security-Policy"] + ";"
        assert "<style" not in text_of(response)
        assert "style=" not in text_of(response)

    def test_the_logo_is_a_drawing_that_runs_nothing(self):
        page = text_of(Client().get("/accounts/login/"))
        path = page.partition("/logo.svg")[0].rpartition('"')[2] + "/logo.svg"

        response = Client().get(path)

        assert (response["Content-Type"], response.content) == ("image/svg+xml", LOGO)
        assert "default-src 'none'" in response["Content-Security-Policy"]
        assert response["X-Content-Type-Options"] == "nosniff"

    def test_an_address_of_before_is_not_kept(self):
        assert Client().get("/brand/0123/brand.css")["Cache-Control"] == "no-cache"

    def test_without_a_brand_there_are_none(self, settings):
        for name in ("BRAND_PALETTE", "BRAND_LOGO"):
            setattr(settings, name, ORIGINAL[name])

        assert Client().get("/brand/0123/brand.css").status_code == 404
        assert Client().get("/brand/0123/logo.svg").status_code == 404
        assert "/brand/" not in text_of(Client().get("/accounts/login/"))
