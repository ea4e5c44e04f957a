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
from networks.base import AccountType, HolderType
from networks.links import base as providers
from networks.links.base import LinkedAccount
from tests.plaid import ACCOUNT_ID, PROCESSOR_TOKEN

pytestmark = pytest.mark.django_db  # which network serves a mode says a row

LINKED = LinkedAccount(
    account_id="acc_1",
    routing_number="021000021",
    account_number="000777000123",
    account_type=AccountType.SAVINGS,
    holder_type=HolderType.INDIVIDUAL,
    bank_name="JPMorgan Chase",
)


def draft_of(linked):
    return drafts.of_linked(linked, mode="live", account_id="acc_1", holder_name="Jo Doe")


def test_takes_over_what_the_provider_knows():
    draft = draft_of(LINKED)

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
def test_tells_failures_in_our_own_words(failure, refusal):
    with pytest.raises(refusal) as told, drafts.refusals():
        raise failure

    assert "secret" not in told.value.detail


@pytest.mark.parametrize(
    ("code", "refusal"),
    [("ITEM_LOGIN_REQUIRED", LinkNeedsRepair), ("INSTITUTION_DOWN", LinkProviderUnavailable)],
)
def test_tells_failures_of_a_provider_that_is_asked_in_our_own_words(plaid, code, refusal):
    plaid.refuses("/processor/auth/get", code)

    with pytest.raises(refusal):
        drafts.exchange(
            mode="live", token=PROCESSOR_TOKEN, account_id=ACCOUNT_ID, holder_name="Jo Doe"
        )


def test_refuses_another_account_than_the_one_named():
    with pytest.raises(LinkAccountMismatch):
        draft_of(replace(LINKED, account_id="acc_2"))


@pytest.mark.parametrize(
    "numbers",
    [
        {"account_number": "123456789012345678"},
        {"account_number": ""},
        {"routing_number": "123456789"},
    ],
)
def test_refuses_an_account_that_fits_into_no_entry(numbers):
    with pytest.raises(InvalidLinkToken) as refusal:
        draft_of(replace(LINKED, **numbers))

    assert "123456789" not in str(refusal.value)
