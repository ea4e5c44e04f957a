"""`approval` of funding transactions and payments: who decided, and when."""

from __future__ import annotations

import csv

import pytest

from approvals import answers
from common.clock import utc_now
from funding.models import Confirmation, FundingTransaction
from funding.services import auto_funding
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tests.builders import browser_of, make_auto_funding, make_member, make_source
from tests.payments.builders import fund, pay

CFO = "cfo@acme.example"
DATES = {
    "funding": ("expected_availability_date", "expectedAvailabilityDate"),
    "payment": ("expected_arrival_date", "expectedArrivalDate"),
}
PAGES = {"funding": "funding", "payment": "payments"}


@pytest.fixture
def funding(acme):
    """An automatic funding that CFO is asked about."""
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=[CFO])
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
    return FundingTransaction.objects.get()


@pytest.fixture
def payment(acme):
    """A payment that CFO is asked about."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=utc_now())
    make_member(acme, email=CFO)
    fund(acme, 5_000)
    return pay(acme, 5_000, now=utc_now())


def links(api, path):
    return api.get(path).json()["data"]["links"][0]["url"].rstrip("/").rpartition("/")[2]


def token(api, row):
    if isinstance(row, Payment):
        return links(api, f"/api/v1/sandbox/payments/{row.pk}/confirmation")
    return links(api, f"/api/v1/sandbox/confirmations/{row.pk}")


def path_of(row):
    return f"/api/v1/{'payments' if isinstance(row, Payment) else 'funding/transactions'}/{row.pk}"


def shown(api, row):
    """The same in the list and alone."""
    one = api.get(path_of(row)).json()["data"]["approval"]
    (listed,) = api.get(path_of(row).rpartition("/")[0]).json()["data"]
    assert listed["approval"] == one
    return one


def expected(api, row):
    """The same alone and in the file of the list."""
    name = DATES["payment" if isinstance(row, Payment) else "funding"][1]
    one = api.get(path_of(row)).json()["data"][name]
    file = api.get(f"{path_of(row).rpartition('/')[0]}.csv")
    (line,) = csv.DictReader(b"".join(file.streaming_content).decode().splitlines())
    assert line[name] == (one or "")
    return one


OPEN = {"status": "open", "decidedBy": None, "decidedAt": None, "declineReason": None}


@pytest.mark.parametrize("kind", ["funding", "payment"])
class TestApproval:
    def test_waits_then_names_who_approved_and_when(self, request, acme_api, kind):
        row = request.getfixturevalue(kind)
        assert shown(acme_api, row) == OPEN
        amount = f"{row.amount / 100:.2f}"

        answers.approve(token=token(acme_api, row), typed_amount=amount, now=utc_now())

        decided = approval_of(row).decided_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        assert shown(acme_api, row) == {
            "status": "approved",
            "decidedBy": {"type": "approver", "id": CFO},
            "decidedAt": decided,
            "declineReason": None,
        }

    def test_expects_nothing_before_it_is_approved(self, request, acme_api, kind):
        row = request.getfixturevalue(kind)
        assert expected(acme_api, row) is None

        amount = f"{row.amount / 100:.2f}"
        answers.approve(token=token(acme_api, row), typed_amount=amount, now=utc_now())

        row.refresh_from_db()
        assert expected(acme_api, row) == getattr(row, DATES[kind][0]).isoformat()

    def test_expects_nothing_once_it_is_declined(self, request, acme_api, kind):
        row = request.getfixturevalue(kind)

        answers.decline(token=token(acme_api, row), reason="Too much", now=utc_now())

        assert expected(acme_api, row) is None

    def test_names_who_declined_and_why(self, request, acme_api, kind):
        row = request.getfixturevalue(kind)

        answers.decline(token=token(acme_api, row), reason="Too much", now=utc_now())

        found = shown(acme_api, row)
        assert (found["status"], found["declineReason"]) == ("declined", "Too much")
        assert found["decidedBy"] == {"type": "approver", "id": CFO}

    def test_withdrawn_names_nobody_and_is_current_in_the_answer(self, request, acme_api, kind):
        row = request.getfixturevalue(kind)

        answer = acme_api.post_json(f"{path_of(row)}/cancel").json()["data"]["approval"]

        assert (answer["status"], answer["decidedBy"]) == ("superseded", None)
        assert answer["decidedAt"] is not None
        assert shown(acme_api, row) == answer

    def test_names_no_staff_who_stopped_it(self, request, acme_api, kind, admin_user):
        row = request.getfixturevalue(kind)
        name = admin_user.email
        approval = type(approval_of(row)).objects.filter(pk=approval_of(row).pk)
        approval.update(decision="superseded", decided_by=name, decided_at=utc_now())

        assert shown(acme_api, row)["decidedBy"] is None
        assert name not in acme_api.get(path_of(row)).content.decode()

    def test_is_nobody_elses(self, request, acme_api, rival_api, kind):
        row = request.getfixturevalue(kind)

        assert rival_api.get(path_of(row)).status_code == 404

    def test_stands_on_the_page(self, request, acme, acme_api, kind):
        row = request.getfixturevalue(kind)
        amount = f"{row.amount / 100:.2f}"
        answers.approve(token=token(acme_api, row), typed_amount=amount, now=utc_now())

        browser = browser_of(make_member(acme, email="dana@acme.example"))
        content = browser.get(f"/dashboard/{PAGES[kind]}/{row.pk}").content.decode()

        assert "<dt>Approval</dt>" in content
        assert f"by {CFO}" in content


def approval_of(row):
    if isinstance(row, Payment):
        return PaymentConfirmation.objects.get(payment=row)
    return Confirmation.objects.get(funding=row)


def test_nobody_is_asked_about_a_small_one(acme, acme_api):
    fund(acme, 5_000)

    assert shown(acme_api, pay(acme, 5_000)) is None
