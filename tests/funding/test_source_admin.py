"""Staff see bank accounts, but neither their numbers nor the amounts that would prove them."""

from __future__ import annotations

import pytest
from django.contrib.admin.utils import quote
from django.test import Client

from funding.models import LinkConsent, SourceVerification
from funding.services import consents, deposits
from tests.builders import NOW, enter_as, make_source, make_staff

CANARY = "77315509988"


@pytest.fixture
def staff(db):
    client = Client()
    enter_as(client, make_staff("sam@ballast.example"))
    return client


def pages(staff, model, pk):
    base = f"/admin/funding/{model}/"
    return [staff.get(base), staff.get(f"{base}?q={pk}"), staff.get(f"{base}{pk}/change/")]


def names(text, pk):
    """Whether the page is that of the row, or leads to it; addresses quote the `_` of ids."""
    return pk in text or quote(pk) in text


class TestFundingSource:
    def test_is_found_and_shown_without_its_number(self, acme, staff):
        source = make_source(acme, account_number=CANARY)

        for page in pages(staff, "fundingsource", source.pk):
            text = page.content.decode()
            assert (page.status_code, names(text, source.pk)) == (200, True)
            for secret in (CANARY, source.account_number_token, source.fingerprint):
                assert secret not in text

    def test_is_not_changed_here(self, acme, staff):
        source = make_source(acme)

        for page in ("add/", f"{source.pk}/delete/"):
            assert staff.get(f"/admin/funding/fundingsource/{page}").status_code == 403
        assert staff.post(f"/admin/funding/fundingsource/{source.pk}/change/").status_code == 403


class TestSourceVerification:
    def test_is_shown_without_its_amounts(self, acme, staff):
        make_source(acme, account_number="50001")
        deposits.send_due(now=NOW)
        verification = SourceVerification.objects.get()
        SourceVerification.objects.update(amounts=[47, 39])

        for page in pages(staff, "sourceverification", verification.pk):
            assert page.status_code == 200
            assert "[47, 39]" not in page.content.decode()
            assert "47, 39" not in page.content.decode()


class TestLinkConsent:
    def test_is_shown_without_its_secret(self, acme, staff):
        consents.keep(tenant_id=acme.pk, provider="plaid", secret=CANARY, now=NOW)
        consent = LinkConsent.objects.get()

        for page in pages(staff, "linkconsent", consent.pk):
            text = page.content.decode()
            assert (page.status_code, names(text, consent.pk)) == (200, True)
            assert consent.secret_token not in text
            assert CANARY not in text
