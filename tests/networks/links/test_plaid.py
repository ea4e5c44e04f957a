"""The adapter against a server that plays Plaid, and who gets Plaid at all."""

from __future__ import annotations

import pytest

from networks import links
from networks.base import AccountType, HolderType
from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkAccountUnusable,
    LinkedAccount,
)
from networks.links.plaid import PlaidLinks
from networks.links.sandbox import SandboxLinks
from tests import plaid as played
from tests.plaid import ACCOUNT_ID, NUMBER, PROCESSOR_TOKEN, PUBLIC_TOKEN, provider_at

AUTH = "/processor/auth/get"
LINKED = LinkedAccount(
    account_id=ACCOUNT_ID,
    routing_number="011401533",
    account_number=NUMBER,
    account_type=AccountType.CHECKING,
    holder_type=HolderType.BUSINESS,
    bank_name="",
)


class TestExchange:
    def test_opens_the_account_of_a_processor_token(self, plaid, provider):
        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID) == LINKED

        [(path, headers, body)] = plaid.requests
        assert (path, body) == (AUTH, {"processor_token": PROCESSOR_TOKEN})
        assert headers["plaid-version"] == "2020-09-14"

    @pytest.mark.parametrize(
        ("told", "account_type"),
        [
            ("checking", AccountType.CHECKING),
            ("cash management", AccountType.CHECKING),
            ("savings", AccountType.SAVINGS),
        ],
    )
    def test_knows_the_kinds_of_account(self, plaid, provider, told, account_type):
        plaid.account = played.account(subtype=told)

        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID).account_type == account_type

    @pytest.mark.parametrize(
        ("told", "holder_type"),
        [
            ("personal", HolderType.INDIVIDUAL),
            ("business", HolderType.BUSINESS),
            ("unrecognized", None),
            (None, None),
            (["personal"], None),
        ],
    )
    def test_knows_whose_account_it_is_only_where_it_is_told(
        self, plaid, provider, told, holder_type
    ):
        plaid.account = played.account(holder_category=told)

        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID).holder_type == holder_type

    def test_names_a_well_known_bank(self, plaid, provider):
        plaid.ach = played.ach(routing="021000021")

        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID).bank_name == "JPMorgan Chase"

    def test_shows_the_digits_people_know_where_the_bank_made_the_number_up(self, plaid, provider):
        plaid.account = played.account(mask="4321", persistent_account_id="8cfb8beb")
        plaid.ach = played.ach(account="00" + "7" * 15, is_tokenized_account_number=True)

        found = provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

        assert (found.shown_as, found.lasting_id) == ("4321", "plaid:8cfb8beb")
        assert "8cfb8beb" not in repr(found)

    @pytest.mark.parametrize("mask", [None, 4321, "", "1", "12345", "·321", ["4321"]])
    def test_does_without_a_mask_that_is_none(self, plaid, provider, mask):
        plaid.account = played.account(mask=mask)
        plaid.ach = played.ach(is_tokenized_account_number=True)

        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID).shown_as == ""

    @pytest.mark.parametrize(
        "token",
        [
            "",
            "processor-sandbox-",
            "processor-production-b0e2c4ee",
            "access-sandbox-b0e2c4ee",
            PUBLIC_TOKEN,
            f" {PROCESSOR_TOKEN}",
            f"{PROCESSOR_TOKEN}\n",
            "processor-sandbox-" + "x" * 161,
            "processor-sandbox-\u0661",
        ],
    )
    def test_does_not_even_ask_about_what_is_no_token_here(self, plaid, provider, token):
        with pytest.raises(InvalidLinkToken):
            provider.exchange(token, ACCOUNT_ID)

        assert plaid.requests == []

    def test_refuses_the_account_of_another_token(self, provider):
        with pytest.raises(LinkAccountMismatch):
            provider.exchange(PROCESSOR_TOKEN, "another")

    @pytest.mark.parametrize(
        "changes",
        [
            {"type": "credit", "subtype": "credit card"},
            {"type": "loan"},
            {"subtype": "cd"},
            {"subtype": "money market"},
            {"subtype": None},
            {"subtype": ["checking"]},
            {"verification_status": "pending_automatic_verification"},
            {"verification_status": "verification_failed"},
            {"verification_status": "database_insights_pass"},
        ],
    )
    def test_refuses_an_account_that_cannot_be_debited(self, plaid, provider, changes):
        plaid.account = played.account(**changes)

        with pytest.raises(LinkAccountUnusable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

    @pytest.mark.parametrize("numbers", [None, played.ach(can_transfer_out=False)])
    def test_refuses_numbers_that_cannot_be_debited(self, plaid, provider, numbers):
        plaid.ach = numbers

        with pytest.raises(LinkAccountUnusable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

    @pytest.mark.parametrize("told", [None, True])
    def test_takes_an_account_whose_bank_does_not_say_that_it_cannot(self, plaid, provider, told):
        plaid.ach = played.ach(can_transfer_out=told)

        assert provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID) == LINKED


class TestModule:
    def test_says_what_a_page_must_allow(self):
        module = provider_at("https://sandbox.plaid.example").module

        assert module.script_url == "https://cdn.plaid.example/link/v2/link.js"
        assert module.frame_source == "https://cdn.plaid.example/"
        assert module.connect_source == "https://sandbox.plaid.example/"

    def test_and_secret_stay_apart(self):
        assert "canary" not in repr(provider_at("https://plaid.example"))


class TestForMode:
    def test_gives_live_tenants_plaid_once_it_is_connected(self, plaid):
        assert isinstance(links.for_mode("live"), PlaidLinks)
        assert isinstance(links.hosted("live"), PlaidLinks)

    def test_gives_sandbox_tenants_their_own_all_the_same(self, plaid):
        assert isinstance(links.for_mode("sandbox"), SandboxLinks)
        assert links.hosted("sandbox") is None

    def test_finds_the_provider_of_a_consent(self, plaid):
        assert isinstance(links.named("plaid"), PlaidLinks)
        assert links.named("another") is None

    def test_finds_none_while_it_is_not_connected(self):
        assert links.named("plaid") is None
        assert links.hosted("live") is None
