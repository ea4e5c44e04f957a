"""Consents: from a public token to the account, until they are revoked."""

from __future__ import annotations

import json

import pytest

from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkAccountUnusable,
    LinkUnavailable,
)
from tests import plaid as played
from tests.plaid import ACCOUNT_ID, NUMBER, PROCESSOR_TOKEN, PUBLIC_TOKEN, Reply


class TestStart:
    def test_asks_for_a_token_for_one_person_and_one_purpose(self, plaid, provider):
        token = provider.start(person="p1", return_url=None)

        [asked] = plaid.bodies("/link/token/create")
        assert token == "link-sandbox-1"
        assert asked == {
            "client_name": "Ballast",
            "language": "en",
            "country_codes": ["US"],
            "products": ["auth"],
            "user": {"client_user_id": "p1"},
            "account_filters": {
                "depository": {"account_subtypes": ["cash management", "checking", "savings"]}
            },
        }

    def test_names_the_way_back_where_there_is_one(self, plaid, provider):
        provider.start(person="p1", return_url="https://ballast.example/back")

        [asked] = plaid.bodies("/link/token/create")
        assert asked["redirect_uri"] == "https://ballast.example/back"

    @pytest.mark.parametrize("code", ["INVALID_FIELD", "INVALID_API_KEYS", "ITEM_LOGIN_REQUIRED"])
    def test_has_no_refusal_that_a_customer_could_mend(self, plaid, provider, code):
        plaid.refuses("/link/token/create", code)

        with pytest.raises(LinkUnavailable):
            provider.start(person="p1", return_url=None)

    @pytest.mark.parametrize("token", [None, "", 5, "with space", "x" * 201, "é"])
    def test_takes_no_token_that_is_none(self, plaid, provider, token):
        plaid.answers("/link/token/create", Reply(json.dumps({"link_token": token}).encode()))

        with pytest.raises(LinkUnavailable):
            provider.start(person="p1", return_url=None)


class TestConsent:
    @pytest.fixture
    def consent(self, provider):
        return provider.accept(PUBLIC_TOKEN)

    def test_opens_the_account_that_was_chosen(self, plaid, provider, consent):
        found = provider.open(consent, ACCOUNT_ID)

        assert (found.account_number, found.bank_name) == (NUMBER, "First Platypus Bank")
        assert plaid.bodies("/auth/get")[0]["options"] == {"account_ids": [ACCOUNT_ID]}

    def test_comes_once_from_a_public_token(self, provider, consent):
        with pytest.raises(InvalidLinkToken):
            provider.accept(PUBLIC_TOKEN)

    @pytest.mark.parametrize("token", ["", PROCESSOR_TOKEN, "public-production-1", "x"])
    def test_comes_from_nothing_else(self, plaid, provider, token):
        with pytest.raises(InvalidLinkToken):
            provider.accept(token)

        assert plaid.requests == []

    def test_opens_no_other_account(self, provider, consent):
        with pytest.raises(LinkAccountMismatch):
            provider.open(consent, "another")

    def test_opens_none_that_the_answer_leaves_out(self, plaid, provider, consent):
        body = {"accounts": [], "numbers": {"ach": [played.ach()]}, "item": played.ITEM}
        plaid.answers("/auth/get", Reply(json.dumps(body).encode()))

        with pytest.raises(LinkAccountMismatch):
            provider.open(consent, ACCOUNT_ID)

    def test_opens_none_without_numbers(self, plaid, provider, consent):
        plaid.ach = None

        with pytest.raises(LinkAccountUnusable):
            provider.open(consent, ACCOUNT_ID)

    def test_is_revoked_as_often_as_you_like(self, plaid, provider, consent):
        provider.revoke(consent)
        provider.revoke(consent)

        assert plaid.consents == set()
        with pytest.raises(InvalidLinkToken):
            provider.open(consent, ACCOUNT_ID)

    def test_is_not_taken_for_revoked_without_an_answer(self, plaid, provider, consent):
        plaid.refuses("/item/remove", "INTERNAL_SERVER_ERROR", status=500)

        with pytest.raises(LinkUnavailable):
            provider.revoke(consent)
