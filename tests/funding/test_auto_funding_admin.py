"""Staff see auto-funding and its confirmations, but can neither change them nor follow a link."""

from __future__ import annotations

import pytest
from django.test import Client

from approvals import links
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    Confirmation,
    ConfirmationLink,
)
from funding.services import auto_funding
from funding.services.approval_policy import POLICY
from tests.builders import NOW, enter_as, make_auto_funding, make_source, make_staff


@pytest.fixture
def staff(db):
    client = Client()
    enter_as(client, make_staff("sam@ballast.example"))
    return client


@pytest.fixture
def token(acme):
    """A link about an automatic funding that waits for approval."""
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    url = links.mint(POLICY, Confirmation.objects.get(), approver_email="cfo@acme.example", now=NOW)
    return url.rstrip("/").rpartition("/")[2]


@pytest.mark.parametrize(
    "model", [AutoFundingConfig, AutoFundingDecision, Confirmation, ConfirmationLink]
)
def test_staff_look_and_touch_nothing(acme, staff, token, model):
    row = model.objects.get()
    base = f"/admin/funding/{model.__name__.lower()}/"
    digest = ConfirmationLink.objects.get().digest

    pages = [staff.get(path) for path in (base, f"{base}?q={acme.pk}", f"{base}{row.pk}/change/")]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert not any(secret in page.content.decode() for page in pages for secret in (token, digest))
    assert staff.get(f"{base}add/").status_code == 403
    assert staff.get(f"{base}{row.pk}/delete/").status_code == 403
    assert staff.post(f"{base}{row.pk}/change/").status_code == 403
