"""Adding, verifying, choosing and removing bank accounts in the browser."""

from __future__ import annotations

import re

import pytest

from funding.models import FundingSource
from funding.states import FundingStatus
from tenants.models import AuditEvent, Mode, Role, Tenant
from tests.builders import make_auto_funding, make_funding, make_member, make_source
from tests.database import owner
from tests.funding.live_network import connected

ROOT = "/dashboard/bank-accounts"


@pytest.fixture
def source(acme):
    return make_source(acme)


def details(tenant, **fields):
    return {
        "acting_for": tenant.pk,
        "holder_name": "Acme Inc",
        "routing_number": "021000021",
        "account_number": "000123456789",
        "account_number_again": "000123456789",
        "account_type": "checking",
        "holder_type": "business",
        **fields,
    }


def post(browser, typed):
    """The page that refuses what was typed into the form."""
    response = browser.post(f"{ROOT}/enter", typed)
    assert response.status_code == 422
    return response.content.decode()


def error_of(page, field):
    """What the page says beside this field."""
    [said] = re.findall(rf'id="id_{field}_error">([^<]*)<', page)
    return said


class TestByHand:
    def test_adds_an_account_in_the_name_of_the_person(self, acme, dana, dana_browser):
        response = dana_browser.post(f"{ROOT}/enter", details(acme), follow=True)

        row = FundingSource.objects.get()
        assert (row.tenant_id, row.last4, row.is_default) == (acme.pk, "6789", True)
        assert b"6789 was added." in response.content
        event = AuditEvent.objects.get(action="funding_source.added")
        assert event.actor_id == dana.pk

    @pytest.mark.parametrize(
        ("field", "text"),
        [
            ("routing_number", "123456789"),
            ("account_number", "12"),
            ("account_number", "4111111111111111"),
            ("holder_name", "<b>"),
            ("holder_name", ""),
        ],
    )
    def test_explains_a_mistake_next_to_its_field(self, acme, dana_browser, field, text):
        response = dana_browser.post(f"{ROOT}/enter", details(acme, **{field: text}))

        assert response.status_code == 422
        assert f"id_{field}_error" in response.content.decode()
        assert not FundingSource.objects.exists()

    def test_explains_all_mistakes_at_once(self, acme, dana_browser):
        wrong = {"holder_name": "", "routing_number": "123456789", "account_number": "12"}

        content = dana_browser.post(f"{ROOT}/enter", details(acme, **wrong)).content.decode()

        assert {f"id_{field}_error" in content for field in wrong} == {True}

    def test_takes_a_routing_number_with_spaces(self, acme, dana_browser):
        dana_browser.post(f"{ROOT}/enter", details(acme, routing_number=" 021 000 021"))

        assert FundingSource.objects.get().routing_number == "021000021"

    def test_never_repeats_the_account_number(self, acme, dana_browser):
        response = dana_browser.post(f"{ROOT}/enter", details(acme, routing_number="1"))

        assert b"000123456789" not in response.content

    def test_refuses_two_numbers_that_differ_and_repeats_neither(self, acme, dana_browser):
        page = post(dana_browser, details(acme, account_number_again="000123456798"))

        assert "This is not the number you entered above." in error_of(page, "account_number_again")
        assert "id_account_number_error" not in page
        assert "0001234567" not in page
        assert not FundingSource.objects.exists()

    def test_asks_for_the_number_a_second_time(self, acme, dana_browser):
        page = post(dana_browser, details(acme, account_number_again=" "))

        assert error_of(page, "account_number_again") == "Enter the account number a second time."
        assert not FundingSource.objects.exists()

    @pytest.mark.parametrize("number", ["12", "4111111111111111"])
    def test_a_wrong_number_is_not_called_different_as_well(self, acme, dana_browser, number):
        page = post(dana_browser, details(acme, account_number=number))

        assert error_of(page, "account_number")
        assert "id_account_number_again_error" not in page

    @pytest.mark.parametrize(
        ("number", "again"),
        [
            ("000123456789", " 0001 2345 6789\u00a0"),
            ("000-123-456789", "000123456789"),
            ("0001 23456789", "0001-2345-6789"),
            ("ab00123456", "AB00 123456"),
        ],
    )
    def test_takes_one_number_in_two_spellings(self, acme, dana_browser, number, again):
        typed = details(acme, account_number=number, account_number_again=again)

        dana_browser.post(f"{ROOT}/enter", typed)

        kept = FundingSource.objects.get().in_clear().account_number
        assert kept == number.replace(" ", "").upper()

    def test_leading_zeros_tell_accounts_apart(self, acme, dana_browser):
        page = post(dana_browser, details(acme, account_number_again="123456789"))

        assert error_of(page, "account_number_again")
        assert not FundingSource.objects.exists()

    def test_twice_is_refused_the_second_time(self, acme, source, dana_browser):
        response = dana_browser.post(f"{ROOT}/enter", details(acme))

        assert response.status_code == 422
        assert b"already here" in response.content
        assert FundingSource.objects.count() == 1

    def test_of_a_live_tenant_is_refused_while_no_network_is_connected(self, acme, dana_browser):
        with owner.as_superuser(triggers=False):
            Tenant.objects.update(mode=Mode.LIVE)

        shown = dana_browser.get(f"{ROOT}/enter").content.decode()
        refused = dana_browser.post(f"{ROOT}/enter", details(acme))

        assert "No payment network is connected yet" in shown
        assert "Add account" not in shown
        assert refused.status_code == 422
        assert "so nobody could verify this bank account" in refused.content.decode()
        assert not FundingSource.objects.exists()
        page = dana_browser.get(ROOT).content.decode()
        assert "You can add accounts once one is." in page

    def test_of_a_live_tenant_waits_for_deposits_once_one_is(self, acme, dana_browser):
        with owner.as_superuser(triggers=False):
            Tenant.objects.update(mode=Mode.LIVE)

        with connected():
            assert "Add account" in dana_browser.get(f"{ROOT}/enter").content.decode()
            dana_browser.post(f"{ROOT}/enter", details(acme))

        assert FundingSource.objects.get().status == "pending_verification"


class TestRoutingNumber:
    """What is said while it is typed."""

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ("", "Nine digits"),
            ("0210", "5 more digits to enter."),
            ("021000021", "JPMorgan Chase"),
            (" 021 000 021 ", "JPMorgan Chase"),
            ("021000022", "No bank has this number."),
            ("0210000211", "No bank has this number."),
            ("02100002x", "Enter digits only."),
            ("\u0660" * 9, "Enter digits only."),
            ("073972181", "This number is valid. We do not know its bank by name."),
        ],
    )
    def test_is_judged_and_named(self, acme, dana_browser, typed, said):
        response = dana_browser.get(f"{ROOT}/routing", {"routing_number": typed})

        assert response.status_code == 200
        assert said in response.content.decode()

    def test_is_nothing_for_viewers(self, acme, sign_in):
        viewer = sign_in(make_member(acme, email="v@acme.example", role=Role.VIEWER))

        assert viewer.get(f"{ROOT}/routing?routing_number=021000021").status_code == 403

    def test_asks_without_sending_the_account_number(self, acme, dana_browser):
        content = dana_browser.get(f"{ROOT}/enter").content.decode()

        assert 'hx-include="#id_routing_number"' in content


class TestPicker:
    def test_links_an_account_through_the_provider(self, acme, dana_browser):
        dana_browser.post(f"{ROOT}/pick", self.choice(acme, "first"))

        row = FundingSource.objects.get()
        assert (row.type, row.status, row.tenant_id) == ("linked", "active", acme.pk)

    def test_hands_over_the_test_numbers(self, acme, dana_browser):
        dana_browser.post(f"{ROOT}/pick", self.choice(acme, "10001"))

        assert FundingSource.objects.get().in_clear().account_number == "10001"

    @pytest.mark.parametrize(
        ("outcome", "words"),
        [
            ("login-required", "sign in on its own site first"),
            ("invalid", "choose a checking or savings"),
        ],
    )
    def test_shows_what_the_provider_refuses(self, acme, dana_browser, outcome, words):
        response = dana_browser.post(f"{ROOT}/pick", self.choice(acme, outcome))

        assert response.status_code == 422
        assert words in response.content.decode()
        assert not FundingSource.objects.exists()

    def test_is_not_there_for_live_tenants(self, acme, dana_browser):
        with owner.as_superuser(triggers=False):
            Tenant.objects.update(mode=Mode.LIVE)

        assert dana_browser.get(f"{ROOT}/pick").status_code == 404
        assert dana_browser.post(f"{ROOT}/pick", self.choice(acme, "first")).status_code == 404

    @staticmethod
    def choice(tenant, outcome):
        return {"acting_for": tenant.pk, "outcome": outcome, "holder_name": "Acme Inc"}


class TestDefault:
    def test_moves_to_the_chosen_account(self, acme, source, dana_browser):
        other = make_source(acme, account_number="99911")

        dana_browser.post(f"{ROOT}/{other.pk}/default", {"acting_for": acme.pk})

        assert FundingSource.objects.get(is_default=True) == other

    def test_does_not_move_to_an_unproven_account(self, acme, source, dana_browser):
        other = make_source(acme, account_number="50001")

        response = dana_browser.post(
            f"{ROOT}/{other.pk}/default", {"acting_for": acme.pk}, follow=True
        )

        assert b"waits for its two deposits" in response.content
        assert FundingSource.objects.get(is_default=True) == source


class TestRemoval:
    def test_spells_out_the_consequences_first(self, source, dana_browser):
        content = dana_browser.get(f"{ROOT}/{source.pk}/remove").content

        assert b"This is your default account" in content
        assert b"Auto-funding" not in content.partition(b"<main")[2]

    def test_names_the_auto_funding_that_will_stop(self, acme, source, dana_browser):
        make_auto_funding(acme)

        content = dana_browser.get(f"{ROOT}/{source.pk}/remove").content

        assert b"Auto-funding adds its $500.00 from this account. It is paused" in content

    def test_is_not_offered_while_money_is_on_its_way(self, acme, source, dana_browser):
        make_funding(acme, source, amount=12_300)
        make_funding(acme, source, amount=100, status=FundingStatus.IN_TRANSIT)

        content = dana_browser.get(f"{ROOT}/{source.pk}/remove").content

        assert b"$124.00 is on its way from this account and expected by November 20." in content
        assert b"Remove account" not in content

    def test_expects_nothing_of_what_nobody_has_approved(self, acme, source, dana_browser):
        make_funding(acme, source, amount=12_300)
        make_funding(
            acme,
            source,
            amount=100,
            status=FundingStatus.AWAITING_CONFIRMATION,
            requires_confirmation=True,
        )

        content = dana_browser.get(f"{ROOT}/{source.pk}/remove").content

        assert b"Top-ups of $124.00 from this account are not finished" in content
        assert b"and $1.00 of that is waiting" in content
        assert b"expected by" not in content

    def test_removes(self, acme, source, dana_browser):
        dana_browser.post(f"{ROOT}/{source.pk}/remove", {"acting_for": acme.pk})

        assert FundingSource.objects.get().status == "removed"
        assert dana_browser.get(f"{ROOT}/{source.pk}/remove").status_code == 404

    def test_is_refused_while_money_is_on_its_way(self, acme, source, dana_browser):
        make_funding(acme, source)

        response = dana_browser.post(
            f"{ROOT}/{source.pk}/remove", {"acting_for": acme.pk}, follow=True
        )

        assert b"still on its way" in response.content
        assert FundingSource.objects.get().status == "active"


class TestVerification:
    @pytest.fixture
    def path(self, acme):
        return f"{ROOT}/{make_source(acme, account_number='50001').pk}/verify"

    def test_succeeds_with_the_two_amounts_in_any_order(self, acme, path, dana_browser):
        dana_browser.post(path, {"acting_for": acme.pk, "first": "22", "second": "11"})

        assert FundingSource.objects.get().status == "active"

    def test_says_in_the_sandbox_which_amounts_work(self, acme, path, dana_browser):
        assert b"In the sandbox, enter 11 and 22." in dana_browser.get(path).content

        with owner.as_superuser(triggers=False):
            Tenant.objects.update(mode=Mode.LIVE)

        assert b"In the sandbox" not in dana_browser.get(path).content

    def test_says_how_many_tries_are_left(self, acme, path, dana_browser):
        assert b"You have 3 attempts left." in dana_browser.get(path).content

        response = dana_browser.post(path, {"acting_for": acme.pk, "first": "1", "second": "2"})

        assert response.status_code == 422
        assert b"You have 2 attempts left." in response.content
        assert FundingSource.objects.get().status == "pending_verification"

    def test_ends_with_what_to_do_when_no_try_is_left(self, acme, path, dana_browser):
        wrong = {"acting_for": acme.pk, "first": "1", "second": "2"}
        for _ in range(3):
            response = dana_browser.post(path, wrong)

        content = response.content.decode()
        assert response.status_code == 422
        assert "Remove this account and add it again." in content
        assert f'href="{ROOT}/enter">Add it again</a>' in content
        assert 'name="first"' not in content
        assert dana_browser.get(path).status_code == 200

    def test_a_slip_costs_no_try(self, acme, path, dana_browser):
        response = dana_browser.post(path, {"acting_for": acme.pk, "first": "", "second": "100"})

        assert response.status_code == 422
        assert b"You have 3 attempts left." in response.content


class TestWho:
    FORMS = ("enter", "pick", "{id}/remove", "{id}/verify")
    ACTIONS = (*FORMS, "{id}/default")

    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    @pytest.mark.parametrize("action", ACTIONS)
    def test_may_only_look_changes_nothing(self, acme, source, sign_in, role, action):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))
        path = f"{ROOT}/{action.format(id=source.pk)}"

        assert browser.post(path, details(acme)).status_code == 403
        assert b"Remove" not in browser.get(ROOT).content
        assert FundingSource.objects.get().status == "active"

    @pytest.mark.parametrize("action", ACTIONS)
    def test_looks_at_another_tenant_now_changes_nothing(self, source, rival, dana_browser, action):
        path = f"{ROOT}/{action.format(id=source.pk)}"

        assert dana_browser.post(path, details(rival)).status_code == 409
        assert FundingSource.objects.get().status == "active"

    @pytest.mark.parametrize("action", ["{id}/remove", "{id}/verify", "{id}/default"])
    def test_belongs_to_another_tenant_finds_nothing(
        self, acme, source, rival, ravi, sign_in, action
    ):
        path = f"{ROOT}/{action.format(id=source.pk)}"

        assert sign_in(ravi).post(path, details(rival)).status_code == 404
        assert FundingSource.objects.get().status == "active"
