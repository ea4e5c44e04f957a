"""Saved recipients in the dashboard."""

from __future__ import annotations

import pytest

from payments.models import Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Role
from tests.builders import NOW, make_member
from tests.payments.builders import account

PATH = "/dashboard/recipients"


@pytest.fixture
def supplier(acme):
    return recipients.save(tenant_id=acme.pk, details=account(), actor=SYSTEM, now=NOW)


def filled(tenant, **fields):
    return {
        "acting_for": tenant.pk,
        "holder_name": "Supplier LLC",
        "routing_number": "021000021",
        "account_number": "000123456789",
        "account_number_again": "000123456789",
        "account_type": "checking",
        "holder_type": "business",
        "nickname": "",
        **fields,
    }


def page(browser, path=""):
    return browser.get(PATH + path).content.decode()


class TestList:
    def test_an_empty_list_says_what_it_is_for(self, dana_browser):
        assert "No recipients yet" in page(dana_browser)

    def test_shows_no_number(self, supplier, dana_browser):
        content = page(dana_browser)

        assert "Supplier LLC" in content
        assert "··6789" in content
        assert "123456789" not in content

    def test_hides_other_tenants_and_removed_ones(self, acme, rival, supplier, dana_browser):
        recipients.save(
            tenant_id=rival.pk, details=account(holder_name="Foreign"), actor=SYSTEM, now=NOW
        )
        recipients.remove(tenant_id=acme.pk, recipient_id=supplier.pk, actor=SYSTEM, now=NOW)

        assert "No recipients yet" in page(dana_browser)


class TestAdd:
    def test_saves_the_account_in_the_name_of_the_person(self, acme, dana, dana_browser):
        response = dana_browser.post(f"{PATH}/new", filled(acme, nickname=" Paper   mill "))

        row = Recipient.objects.get()
        assert response["Location"] == PATH
        assert (row.nickname, row.account_holder_name, row.is_saved) == (
            "Paper mill",
            "Supplier LLC",
            True,
        )
        event = AuditEvent.objects.get(action="recipient.saved")
        assert (event.actor_id, event.details["last4"]) == (dana.pk, "6789")

    def test_leads_back_to_paying(self, acme, dana_browser):
        response = dana_browser.post(f"{PATH}/new?then=pay", filled(acme))

        assert response["Location"] == f"/dashboard/pay/?recipient={Recipient.objects.get().pk}"

    @pytest.mark.parametrize(
        ("field", "value"),
        [("routing_number", "021000022"), ("account_number", "000"), ("holder_name", "<b>")],
    )
    def test_explains_what_is_wrong_next_to_the_field(self, acme, dana_browser, field, value):
        response = dana_browser.post(f"{PATH}/new", filled(acme, **{field: value}))

        assert response.status_code == 422
        assert f"id_{field}_error" in response.content.decode()
        assert "000123456789" not in response.content.decode()

    def test_refuses_two_numbers_that_differ_and_repeats_neither(self, acme, dana_browser):
        typed = filled(acme, account_number_again="000123456798")

        response = dana_browser.post(f"{PATH}/new", typed)

        content = response.content.decode()
        assert response.status_code == 422
        assert "This is not the number you entered above." in content
        assert "id_account_number_again_error" in content
        assert "0001234567" not in content
        assert not Recipient.objects.exists()

    def test_takes_one_number_in_two_spellings(self, acme, dana_browser):
        dana_browser.post(f"{PATH}/new", filled(acme, account_number_again="000 123-456789"))

        assert Recipient.objects.get().last4 == "6789"

    def test_refuses_the_same_account_twice(self, acme, supplier, dana_browser):
        response = dana_browser.post(f"{PATH}/new", filled(acme))

        assert response.status_code == 422
        assert b"already saved" in response.content


class TestRename:
    def test_changes_only_what_the_team_sees(self, acme, supplier, dana_browser):
        path = f"{PATH}/{supplier.pk}/rename"

        dana_browser.post(path, {"acting_for": acme.pk, "nickname": "Paper mill"})

        supplier.refresh_from_db()
        assert (supplier.display_name, supplier.account_holder_name) == (
            "Paper mill",
            "Supplier LLC",
        )
        assert 'value="Paper mill"' in page(dana_browser, f"/{supplier.pk}/rename")

    def test_empty_goes_back_to_the_name_on_the_account(self, acme, supplier, dana_browser):
        Recipient.objects.update(nickname="Paper mill")

        dana_browser.post(f"{PATH}/{supplier.pk}/rename", {"acting_for": acme.pk, "nickname": ""})

        supplier.refresh_from_db()
        assert supplier.display_name == "Supplier LLC"

    def test_of_a_removed_one_is_refused(self, acme, supplier, dana_browser):
        recipients.remove(tenant_id=acme.pk, recipient_id=supplier.pk, actor=SYSTEM, now=NOW)

        response = dana_browser.post(
            f"{PATH}/{supplier.pk}/rename", {"acting_for": acme.pk, "nickname": "x"}
        )

        assert response.status_code == 422


class TestRemove:
    def test_says_what_it_means_then_does_it_once(self, acme, supplier, dana_browser):
        path = f"{PATH}/{supplier.pk}/remove"
        assert "Past payments still show its name." in dana_browser.get(path).content.decode()

        for _ in range(2):
            response = dana_browser.post(path, {"acting_for": acme.pk}, follow=True)

        assert b"Supplier LLC was removed." in response.content
        assert AuditEvent.objects.filter(action="recipient.removed").count() == 1


@pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
def test_who_may_only_look_changes_nothing(acme, supplier, sign_in, role):
    browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

    assert "Supplier LLC" in page(browser)
    assert "/rename" not in page(browser, f"/{supplier.pk}")
    for path in ("/new", f"/{supplier.pk}/rename", f"/{supplier.pk}/remove"):
        assert browser.get(PATH + path).status_code == 403
        assert browser.post(PATH + path, {"acting_for": acme.pk}).status_code == 403


def test_other_tenants_recipients_do_not_exist(supplier, rival, ravi, sign_in):
    browser = sign_in(ravi)

    for path in (f"/{supplier.pk}/rename", f"/{supplier.pk}/remove"):
        assert browser.get(PATH + path).status_code == 404
        assert browser.post(PATH + path, {"acting_for": rival.pk}).status_code == 404
