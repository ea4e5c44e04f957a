"""The adapter against a server that plays Plaid: answers, refusals, silence and nonsense."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from networks import links
from networks.base import AccountType, HolderType
from networks.links import plaid as adapter
from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkAccountUnusable,
    LinkedAccount,
    LinkNeedsRepair,
    LinkUnavailable,
)
from networks.links.plaid import PlaidLinks
from networks.links.sandbox import SandboxLinks
from tests import plaid as played
from tests.plaid import ACCOUNT_ID, NUMBER, PROCESSOR_TOKEN, PUBLIC_TOKEN, Reply
from tests.servers import free_port

AUTH = "/processor/auth/get"
LINKED = LinkedAccount(
    account_id=ACCOUNT_ID,
    routing_number="011401533",
    account_number=NUMBER,
    account_type=AccountType.CHECKING,
    holder_type=HolderType.BUSINESS,
    bank_name="",
)


def provider_at(host, **changes):
    return PlaidLinks(
        **{
            "client_id": played.CLIENT_ID,
            "secret": played.SECRET,
            "environment": "sandbox",
            "host": host,
            "script_url": "https://cdn.plaid.example/link/v2/link.js",
            **changes,
        }
    )


@pytest.fixture
def provider(plaid):
    return provider_at(plaid.url)


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
            ("unrecognized", HolderType.BUSINESS),
            (None, HolderType.BUSINESS),
            (["personal"], HolderType.BUSINESS),
        ],
    )
    def test_takes_a_holder_for_a_business_unless_told_otherwise(
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


class TestRefusals:
    @pytest.mark.parametrize(
        ("code", "meaning"),
        [
            ("INVALID_PROCESSOR_TOKEN", InvalidLinkToken),
            ("ITEM_NOT_FOUND", InvalidLinkToken),
            ("USER_PERMISSION_REVOKED", InvalidLinkToken),
            ("INVALID_ACCOUNT_ID", LinkAccountMismatch),
            ("NO_AUTH_ACCOUNTS", LinkAccountUnusable),
            ("PRODUCTS_NOT_SUPPORTED", LinkAccountUnusable),
            ("ITEM_LOGIN_REQUIRED", LinkNeedsRepair),
            ("ITEM_LOCKED", LinkNeedsRepair),
            ("ACCESS_NOT_GRANTED", LinkNeedsRepair),
            ("PRODUCT_NOT_READY", LinkUnavailable),
            ("INSTITUTION_DOWN", LinkUnavailable),
            ("INSTITUTION_NOT_RESPONDING", LinkUnavailable),
            ("INVALID_API_KEYS", LinkUnavailable),
            ("A_CODE_OF_NEXT_YEAR", LinkUnavailable),
        ],
    )
    def test_are_told_by_code(self, plaid, provider, code, meaning):
        plaid.refuses(AUTH, code)

        with pytest.raises(meaning) as told:
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

        assert type(told.value) is meaning

    @pytest.mark.parametrize(
        ("status", "code"), [(429, "RATE_LIMIT"), (500, "INTERNAL_SERVER_ERROR")]
    )
    def test_of_limits_and_breakdowns_are_for_later(self, plaid, provider, status, code):
        plaid.refuses(AUTH, code, status=status)

        with pytest.raises(LinkUnavailable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

    def test_of_our_own_keys_are_logged_without_them(self, plaid, log):
        with pytest.raises(LinkUnavailable):
            provider_at(plaid.url, secret="wrong-canary").exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

        [line] = log.of("plaid_refused")
        assert (line["level"], line["code"]) == ("warning", "INVALID_API_KEYS")
        assert line["plaid_request"] == "HNTDNrA8F1shFEW"
        assert "canary" not in log.text
        assert NUMBER not in log.text

    @pytest.mark.parametrize("status", [301, 302, 400, 404, 500, 503])
    @pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"error_code": ["x"]}', b'{"a": 1}'])
    def test_without_a_code_are_for_later(self, plaid, provider, status, body):
        plaid.answers(AUTH, Reply(body, status))

        with pytest.raises(LinkUnavailable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

    def test_repeat_nothing_of_a_code_that_is_none(self, plaid, provider, log):
        told = {"error_code": f"x {NUMBER}", "request_id": f"y {NUMBER}"}
        plaid.answers(AUTH, Reply(json.dumps(told).encode(), 400))

        with pytest.raises(LinkUnavailable) as refusal:
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

        assert NUMBER not in log.text + str(refusal.value)


class TestNonsense:
    @pytest.mark.parametrize(
        "body",
        [
            b"null",
            b"[]",
            b"{",
            b"\xff\xfe",
            b"[" * 9_000,
            b"1" * 9_000,
            b"{}",
            b'{"account": null, "numbers": {}}',
            b'{"account": [], "numbers": {"ach": {}}}',
            b'{"account": {"account_id": 5}, "numbers": {}}',
            json.dumps({"account": played.account(), "numbers": []}).encode(),
            json.dumps({"account": played.account(), "numbers": {"ach": {}}}).encode(),
            json.dumps(
                {"account": played.account(), "numbers": {"ach": played.ach(account=123)}}
            ).encode(),
            json.dumps(
                {"account": played.account(), "numbers": {"ach": played.ach(routing="9" * 999)}}
            ).encode(),
        ],
    )
    def test_is_no_answer(self, plaid, provider, body, log):
        plaid.answers(AUTH, Reply(body))

        with pytest.raises(LinkUnavailable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

        assert len(log.of("plaid_unavailable")) == 1
        assert NUMBER not in log.text

    def test_of_any_size_is_read_to_16_kib_at_most(self, plaid, provider):
        good = {"account": played.account(), "numbers": {"ach": played.ach()}}
        plaid.answers(AUTH, Reply(json.dumps(good | {"more": "x" * 50_000_000}).encode()))

        with pytest.raises(LinkUnavailable):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)


class TestSilence:
    def test_ends_after_the_time_a_page_can_wait(self, plaid, provider, monkeypatch):
        monkeypatch.setattr(adapter, "TOTAL_SECONDS", 0.2)
        plaid.answers(AUTH, Reply(b"{}", seconds=3))

        with pytest.raises(LinkUnavailable, match="timeout"):
            provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)

    def test_takes_two_threads_of_a_process_at_most(self, plaid, provider, monkeypatch):
        monkeypatch.setattr(adapter, "_TURN_SECONDS", 0.1)
        for _ in range(3):
            plaid.answers(AUTH, Reply(b"{}", seconds=1))

        def ask(_number):
            with pytest.raises(LinkUnavailable) as told:
                provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)
            return str(told.value)

        with ThreadPoolExecutor(3) as pool:
            said = sorted(pool.map(ask, range(3)))

        assert said == ["account", "account", "too many calls at once"]
        assert len(plaid.requests) == 2

    def test_is_what_a_closed_port_and_a_hang_up_are(self, plaid, provider):
        plaid.answers(AUTH, Reply())

        for one in (provider, provider_at(f"http://127.0.0.1:{free_port()}")):
            with pytest.raises(LinkUnavailable):
                one.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)


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
