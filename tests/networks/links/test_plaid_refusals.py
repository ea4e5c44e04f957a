"""What the adapter makes of refusals, nonsense and silence."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from networks.links import plaid as adapter
from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkAccountUnusable,
    LinkNeedsRepair,
    LinkUnavailable,
)
from tests import plaid as played
from tests.plaid import ACCOUNT_ID, NUMBER, PROCESSOR_TOKEN, Reply, provider_at
from tests.servers import free_port

AUTH = "/processor/auth/get"


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
            plaid.answers(AUTH, Reply(b"{}", seconds=2))

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
