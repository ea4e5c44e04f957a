"""Signing in at a provider, and proving there once more who one is, as a person does it."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from tenants.models import Invitation
from tests.browser.conftest import in_every_look
from tests.sso_provider import connection_to, playing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SUBJECT = "dana-at-acme"


@pytest.fixture
def provider(dana, acme, settings, live_server):
    settings.BASE_URL = live_server.url
    with playing() as one:
        settings.SINGLE_SIGN_ON = (connection_to(one, tenant=acme.pk),)
        said = {"email": dana.email, "email_verified": True}
        requests.put(f"{one.url}/users/{SUBJECT}", json=said, timeout=5)
        yield one


def authorize(page: Page) -> None:
    page.get_by_placeholder("sub").fill(SUBJECT)
    page.get_by_role("button", name="Authorize", exact=True).click()


def is_well_made(visitor: Any) -> None:
    assert visitor.barriers() == []
    assert visitor.sideways_scroll() == 0


@in_every_look
def test_somebody_signs_in_and_proves_it_again(visit, provider, scheme, viewport):
    visitor = visit(scheme=scheme, viewport=viewport)
    page = visitor.page
    provider.claims["auth_time"] = 1  # they signed in there long ago

    visitor.goto("/dashboard/team/invite")
    is_well_made(visitor)
    page.get_by_role("link", name="Sign in with single sign-on").click()
    expect(page.get_by_label("Work e-mail")).to_be_visible()
    is_well_made(visitor)
    page.get_by_label("Work e-mail").fill("dana@acme.example")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("link", name="Continue to Acme ID")).to_be_visible()
    is_well_made(visitor)
    page.get_by_role("link", name="Continue to Acme ID").click()
    authorize(page)

    page.get_by_label("E-mail address").fill("nell@acme.example")
    page.get_by_text("Viewer", exact=True).click()
    page.get_by_role("button", name="Send invitation").click()
    expect(page.get_by_role("heading", name="Confirm it is you")).to_be_visible()
    is_well_made(visitor)

    del provider.claims["auth_time"]
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in at Acme ID").click()
    authorize(opened.value)
    expect(opened.value.get_by_role("heading", name="Thank you, it is you")).to_be_visible()
    opened.value.close()
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_text("nell@acme.example").first).to_be_visible()
    assert Invitation.objects.get().email == "nell@acme.example"


def test_somebody_who_is_refused_reads_why(visit, provider):
    visitor = visit()
    provider.claims["email_verified"] = False

    visitor.goto("/accounts/sso/acme-idp/")
    authorize(visitor.page)

    expect(visitor.page.get_by_text("did not confirm your e-mail address")).to_be_visible()
    is_well_made(visitor)
