"""The full number of a bank account, one at a time, with a reason."""

from __future__ import annotations

import pytest

from payments.models import Recipient
from tenants.models import AuditEvent
from tests.builders import browser_of, make_source, make_staff
from tests.payments.builders import fund, pay

NUMBER = "000123456789"
REASON = "The bank asks about trace 0999"


@pytest.fixture
def source(acme):
    return make_source(acme, account_number=NUMBER)


@pytest.fixture
def recipient(acme):
    fund(acme, 50_000)
    pay(acme, 10_000, to=NUMBER)
    return Recipient.objects.get()


def address(row):
    return f"/admin/desk/account-numbers/{row.pk}/"


def reveals():
    return list(AuditEvent.objects.filter(action__endswith="number_revealed"))


class TestNumber:
    @pytest.mark.parametrize("kind", ["source", "recipient"])
    def test_is_shown_once_for_a_reason(self, desk, sam, acme, kind, request):
        row = request.getfixturevalue(kind)

        response = desk.post(address(row), {"reason": REASON})

        assert NUMBER in response.content.decode()
        assert "no-store" in response["Cache-Control"]
        (event,) = reveals()
        assert (event.tenant_id, event.actor_id, event.subject_id) == (acme.pk, sam.pk, row.pk)
        assert (event.details, event.staff_note) == (
            {"bankName": "JPMorgan Chase", "last4": "6789"},
            REASON,
        )
        assert NUMBER not in desk.get(address(row)).content.decode()

    def test_stays_hidden_without_a_reason(self, desk, source):
        for response in (desk.get(address(source)), desk.post(address(source), {"reason": ""})):
            assert NUMBER not in response.content.decode()
        assert reveals() == []

    @pytest.mark.parametrize(
        ("kind", "model"),
        [("source", "funding/fundingsource"), ("recipient", "payments/recipient")],
    )
    def test_is_in_no_other_page_of_the_desk(self, desk, kind, model, request):
        row = request.getfixturevalue(kind)

        for path in (f"/admin/{model}/", f"/admin/{model}/{row.pk}/change/"):
            content = desk.get(path).content.decode()
            assert NUMBER not in content
            assert row.account_number_token not in content
            assert row.fingerprint not in content
        assert address(row) in content

    @pytest.mark.parametrize("account_id", ["fs_nobody", "rcp_nobody", "x", "ten_1"])
    def test_of_nothing_is_not_found(self, desk, account_id):
        assert desk.get(f"/admin/desk/account-numbers/{account_id}/").status_code == 404


class TestPermission:
    def test_is_one_of_its_own(self, staff_with, source):
        browser = staff_with("tenants.view_tenant", "funding.view_fundingsource")

        assert browser.post(address(source), {"reason": REASON}).status_code == 403
        page = browser.get(f"/admin/funding/fundingsource/{source.pk}/change/").content.decode()
        assert address(source) not in page
        assert reveals() == []

    def test_of_one_kind_opens_no_other(self, staff_with, source, recipient):
        browser = staff_with("payments.reveal_recipient_number")

        assert browser.post(address(source), {"reason": REASON}).status_code == 403
        assert NUMBER in browser.post(address(recipient), {"reason": REASON}).content.decode()

    def test_asks_again_who_it_is(self, db, source):
        sam = make_staff("sam@ballast.example", password="long ago")
        browser = browser_of(sam, minutes_ago=11)

        response = browser.post(address(source), {"reason": REASON})

        assert b"Confirm it is you" in response.content
        assert reveals() == []
