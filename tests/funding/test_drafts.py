"""What a link provider may answer, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from funding.errors import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkNeedsRepair,
    LinkProviderUnavailable,
)
from funding.services import drafts
from networks import links
from networks.base import AccountType, HolderType
from networks.links import base as providers
from networks.links.base import LinkedAccount

LINKED = LinkedAccount(
    account_id="acc_1",
    routing_number="021000021",
    account_number="000777000123",
    account_type=AccountType.SAVINGS,
    holder_type=HolderType.INDIVIDUAL,
    bank_name="JPMorgan Chase",
)


class Provider:
    """Answers every token with the same account, or fails in the same way."""

    name = "fake"

    def __init__(self, answer):
        self.answer = answer

    def exchange(self, token, account_id):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def exchange(monkeypatch):
    def ask(answer):
        monkeypatch.setattr(links, "for_mode", lambda _mode: Provider(answer))
        return drafts.exchange(mode="live", token="token", account_id="acc_1", holder_name="Jo Doe")

    return ask


def test_takes_over_what_the_provider_knows(exchange):
    draft = exchange(LINKED)

    assert draft.is_verified
    assert (draft.bank_name, draft.linked) == ("JPMorgan Chase", LINKED)
    assert draft.account.account_number == "000777000123"
    assert (draft.account.holder_type, draft.account.account_type) == ("individual", "savings")
    assert "000777000123" not in repr(draft)


@pytest.mark.parametrize(
    ("failure", "refusal"),
    [
        (providers.InvalidLinkToken("secret"), InvalidLinkToken),
        (providers.LinkAccountMismatch("secret"), LinkAccountMismatch),
        (providers.LinkNeedsRepair("secret"), LinkNeedsRepair),
        (providers.LinkUnavailable("secret"), LinkProviderUnavailable),
    ],
)
def test_tells_failures_in_our_own_words(exchange, failure, refusal):
    with pytest.raises(refusal) as told:
        exchange(failure)

    assert "secret" not in told.value.detail


def test_refuses_another_account_than_the_one_named(exchange):
    with pytest.raises(LinkAccountMismatch):
        exchange(replace(LINKED, account_id="acc_2"))


@pytest.mark.parametrize(
    "numbers",
    [
        {"account_number": "123456789012345678"},
        {"account_number": ""},
        {"routing_number": "123456789"},
    ],
)
def test_refuses_an_account_that_fits_into_no_entry(exchange, numbers):
    with pytest.raises(InvalidLinkToken) as refusal:
        exchange(replace(LINKED, **numbers))

    assert "123456789" not in str(refusal.value)
