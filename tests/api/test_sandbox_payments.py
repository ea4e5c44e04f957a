"""POST /api/v1/sandbox/payments/{id}/{step}"""

from __future__ import annotations

import pytest

from common.clock import utc_now
from payments.models import Payment, PaymentMethod
from tenants.models import Mode
from tests.builders import ApiClient, make_key, make_tenant
from tests.payments.builders import fund, funds_of, pay, postings_of

PATH = "/api/v1/sandbox"


def step(api, payment, name, **headers):
    return api.post_json(f"{PATH}/payments/{payment.pk}/{name}", **headers)


@pytest.fixture
def stuck(acme):
    """A payment to the account that stays on its way for ever."""
    fund(acme, 10_000)
    return pay(acme, 10_000, to="30001")


def test_advance_walks_through_all_statuses(acme_api, stuck):
    seen = [step(acme_api, stuck, "advance").json()["data"]["status"] for _ in range(3)]

    assert seen == ["processing", "processing", "completed"]


@pytest.mark.parametrize(
    ("name", "status", "returned", "available"),
    [
        ("complete", "completed", False, 0),
        ("fail", "failed", False, 10_000),
        ("return", "failed", True, 10_000),
    ],
)
def test_one_step_goes_all_the_way(acme, acme_api, stuck, name, status, returned, available):
    found = step(acme_api, stuck, name).json()["data"]

    assert (found["status"], found["returned"]) == (status, returned)
    assert funds_of(acme) == (available, 0)


def test_a_return_after_completion_credits_the_money_back(acme, acme_api, stuck):
    step(acme_api, stuck, "complete")

    found = step(acme_api, stuck, "return").json()["data"]

    assert found["status"] == "returned"
    assert [type for type, _ in postings_of(stuck)] == ["lock", "settlement", "credit"]
    assert funds_of(acme) == (10_000, 0)


def test_what_no_bank_could_do_is_refused(acme, acme_api):
    fund(acme, 10_000)
    payment = pay(acme, to="30001", method=PaymentMethod.RTP)
    step(acme_api, payment, "complete")

    response = step(acme_api, payment, "return")

    assert (response.status_code, response.json()["code"]) == (409, "sandbox_refused")
    assert (response.json()["status"], response.json()["currentStatus"]) == (409, "completed")
    assert Payment.objects.get().status == "completed"


def test_a_waiting_payment_is_at_no_bank(acme, acme_api):
    payment = pay(acme, wait=True, now=utc_now())

    assert step(acme_api, payment, "complete").status_code == 409
    assert Payment.objects.get().status == "waiting_for_funds"


def test_the_same_key_advances_once(acme_api, stuck):
    first, second = (step(acme_api, stuck, "advance", **{"Idempotency-Key": "k"}) for _ in range(2))

    assert first.content == second.content
    assert Payment.objects.get().status == "processing"


def test_unknown_steps_and_ids_are_404(acme_api, stuck, rival):
    fund(rival, 10_000)

    assert step(acme_api, stuck, "explode").status_code == 404
    assert step(acme_api, pay(rival), "complete").status_code == 404


def test_live_tenants_do_not_have_it(db):
    api = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))
    path = f"{PATH}/payments/pay_00000000000000000000000000/advance"

    assert api.post_json(path).status_code == 404


def test_process_due_runs_waiting_and_new_payments_too(acme, acme_api):
    payment = pay(acme, 500, wait=True, now=utc_now())
    fund(acme, 500)

    response = acme_api.post_json(f"{PATH}/process-due")

    steps = response.json()["data"]["transitions"]
    assert [(item["id"], item["toStatus"]) for item in steps] == [
        (payment.pk, "created"),
        (payment.pk, "processing"),
        (payment.pk, "completed"),
    ]
