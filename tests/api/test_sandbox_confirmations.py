"""GET /api/v1/sandbox/confirmations/{fundingTransactionId}"""

from __future__ import annotations

import pytest

from approvals import answers
from common.clock import utc_now
from funding.models import ConfirmationLink, FundingTransaction
from funding.services import auto_funding
from tenants.models import Mode
from tests.builders import (
    ApiClient,
    make_auto_funding,
    make_funding,
    make_key,
    make_source,
    make_tenant,
)
from tests.funding.live_network import make_early_source

PATH = "/api/v1/sandbox/confirmations"


@pytest.fixture
def waiting(acme):
    """An automatic funding that CFO is asked about."""
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=["cfo@acme.example"])
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
    return FundingTransaction.objects.get()


def token_of(url):
    return url.rstrip("/").rpartition("/")[2]


def test_gives_links_that_decide(acme_api, waiting):
    response = acme_api.get(f"{PATH}/{waiting.pk}")

    assert response.status_code == 200
    found = response.json()["data"]
    assert (found["fundingTransactionId"], found["decision"]) == (waiting.pk, "open")
    (link,) = found["links"]
    assert link["approverEmail"] == "cfo@acme.example"
    answers.approve(token=token_of(link["url"]), typed_amount="500.00", now=utc_now())
    waiting.refresh_from_db()
    assert waiting.status == "reserved"
    decided = acme_api.get(f"{PATH}/{waiting.pk}").json()["data"]
    assert (decided["decision"], decided["links"]) == ("approved", [])


def test_with_nobody_to_ask_makes_an_approver_up(acme, acme_api):
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())

    found = acme_api.get(f"{PATH}/{FundingTransaction.objects.get().pk}").json()["data"]

    (link,) = found["links"]
    assert link["approverEmail"] == "approver@sandbox.invalid"


def test_live_tenants_do_not_have_it(db):
    live = make_tenant(name="Live", mode=Mode.LIVE)
    funding = make_funding(live, make_early_source(live))

    response = ApiClient(make_key(live)).get(f"{PATH}/{funding.pk}")

    assert response.status_code == 404


def test_hides_other_tenants_approvals(rival_api, waiting):
    response = rival_api.get(f"{PATH}/{waiting.pk}")

    assert (response.status_code, response.json()["code"]) == (404, "unknown_confirmation")
    assert not ConfirmationLink.objects.exists()


@pytest.mark.parametrize("funding_id", ["abc", "ftx_01kaj9s3h5x2q4z6w8y0v2t4r6", "a%00b", "%ff"])
def test_knows_nothing_of_other_ids(acme_api, funding_id):
    assert acme_api.get(f"{PATH}/{funding_id}").status_code == 404


def test_needs_the_scope_to_write(acme, waiting):
    api = ApiClient(make_key(acme, scopes=["autofunding:read"]))

    assert api.get(f"{PATH}/{waiting.pk}").status_code == 403
