"""GET /api/v1/sandbox/payments/{id}/confirmation"""

from __future__ import annotations

import pytest

from approvals import answers
from common.clock import utc_now
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tests.builders import ApiClient, make_key, make_member
from tests.payments.builders import fund, pay

CFO = "cfo@acme.example"


@pytest.fixture
def payment(acme):
    """One that CFO is asked about."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=utc_now())
    make_member(acme, email=CFO)
    fund(acme, 5_000)
    return pay(acme, 5_000, now=utc_now())


def path(payment_id):
    return f"/api/v1/sandbox/payments/{payment_id}/confirmation"


def shown(api, payment):
    return api.get(f"/api/v1/payments/{payment.pk}").json()["data"]


def test_gives_links_that_decide(acme_api, payment):
    before = shown(acme_api, payment)
    found = acme_api.get(path(payment.pk)).json()["data"]

    assert (before["requiresConfirmation"], before["confirmedAt"]) == (True, None)
    assert before["confirmationExpiresAt"] == found["expiresAt"]
    assert (found["paymentId"], found["decision"]) == (payment.pk, "open")
    (link,) = found["links"]
    assert link["approverEmail"] == CFO
    token = link["url"].rstrip("/").rpartition("/")[2]
    answers.approve(token=token, typed_amount="50.00", now=utc_now())
    decided = acme_api.get(path(payment.pk)).json()["data"]
    assert (decided["decision"], decided["links"]) == ("approved", [])
    after = shown(acme_api, payment)
    assert (after["requiresConfirmation"], after["confirmationExpiresAt"]) == (True, None)
    assert after["confirmedAt"] is not None


@pytest.mark.parametrize("payment_id", ["abc", "pay_01kaj9s3h5x2q4z6w8y0v2t4r6", "a%00b", "%ff"])
def test_knows_nothing_of_other_ids(acme_api, payment_id):
    answer = acme_api.get(path(payment_id))

    assert answer.status_code == 404


def test_hides_other_tenants_approvals(rival_api, payment):
    assert rival_api.get(path(payment.pk)).status_code == 404


def test_needs_the_scope_to_write(acme, payment):
    api = ApiClient(make_key(acme, scopes=["payments:read"]))

    assert api.get(path(payment.pk)).status_code == 403


def test_a_payment_nobody_is_asked_about_requires_nothing(acme, acme_api):
    fund(acme, 5_000)
    payment = pay(acme, 5_000, now=utc_now())

    assert shown(acme_api, payment)["requiresConfirmation"] is False
    assert acme_api.get(path(payment.pk)).status_code == 404
