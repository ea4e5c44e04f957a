from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks import links, routing
from networks.base import AccountType, HolderType
from networks.links.base import InvalidLinkToken, LinkAccountMismatch, LinkNeedsRepair
from networks.links.sandbox import SandboxLinks

TEST_ACCOUNTS = ("10001", "10099", "20010", "30001", "30002", "40003", "41004", "50000", "50001")

provider = SandboxLinks()


class TestExchange:
    def test_opens_an_account_at_a_sandbox_bank(self):
        account = provider.exchange("processor-sandbox-b0e2c4ee-a763", "acc_1")

        assert account.account_id == "acc_1"
        assert routing.validate(account.routing_number)
        assert account.bank_name == routing.SANDBOX_BANKS[account.routing_number]
        assert len(account.account_number) == 12
        assert (account.account_type, account.holder_type) == (
            AccountType.CHECKING,
            HolderType.BUSINESS,
        )

    def test_gives_the_same_account_every_time(self):
        first = provider.exchange("processor-sandbox-acme", "acc_1")

        assert provider.exchange("processor-sandbox-acme", "acc_1") == first

    def test_gives_other_numbers_to_another_account_or_token(self):
        numbers = {
            provider.exchange(token, account_id).account_number
            for token in ("processor-sandbox-acme", "processor-sandbox-rival")
            for account_id in ("acc_1", "acc_2")
        }

        assert len(numbers) == 4

    @pytest.mark.parametrize("word", TEST_ACCOUNTS)
    def test_opens_exactly_the_test_account_that_the_token_names(self, word):
        token = f"processor-sandbox-{word}"

        assert provider.exchange(token, "acc_1").account_number == word
        assert provider.exchange(token, "acc_1") == provider.exchange(token, "acc_1")

    @pytest.mark.parametrize("word", ["1000", "100011", "30003", "\u06610001", "account-10001"])
    def test_derives_a_number_when_the_word_only_looks_like_one(self, word):
        assert len(provider.exchange(f"processor-sandbox-{word}", "acc_1").account_number) == 12

    @pytest.mark.parametrize(
        "token",
        [
            "",
            "processor-sandbox-",
            "processor-sandbox",
            "processor-production-acme",
            "public-sandbox-acme",
            " processor-sandbox-acme",
            "Processor-Sandbox-acme",
            "processor-sandbox-invalid",
            "processor-sandbox-acme-invalid",
        ],
    )
    def test_refuses_a_token_that_is_none(self, token):
        with pytest.raises(InvalidLinkToken):
            provider.exchange(token, "acc_1")

    @pytest.mark.parametrize("word", ["login-required", "acme-login-required"])
    def test_asks_for_repair(self, word):
        with pytest.raises(LinkNeedsRepair):
            provider.exchange(f"processor-sandbox-{word}", "acc_1")

    @pytest.mark.parametrize("word", ["mismatch", "acme-mismatch"])
    def test_notices_the_account_of_another_token(self, word):
        with pytest.raises(LinkAccountMismatch):
            provider.exchange(f"processor-sandbox-{word}", "acc_1")

    @given(st.text(min_size=1), st.text())
    def test_answers_any_words_with_an_account_or_a_known_refusal(self, word, account_id):
        try:
            account = provider.exchange(f"processor-sandbox-{word}", account_id)
        except (InvalidLinkToken, LinkAccountMismatch, LinkNeedsRepair):
            return

        assert 4 <= len(account.account_number) <= 17
        assert account.account_number.isdigit()

    def test_keeps_the_number_out_of_repr(self):
        account = provider.exchange("processor-sandbox-acme", "acc_1")

        assert account.account_number not in repr(account)


class TestForMode:
    def test_gives_sandbox_tenants_the_sandbox_provider(self):
        assert isinstance(links.for_mode("sandbox"), SandboxLinks)

    def test_gives_live_tenants_no_sandbox(self):
        assert links.for_mode("live") is None
