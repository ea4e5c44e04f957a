from __future__ import annotations

import pytest

from common import crypto
from funding.models import FundingSource
from networks.base import AccountType, BankAccount, HolderType

ACCOUNT = BankAccount(
    routing_number="021000021",
    account_number="000123456789",
    holder_name="Acme Inc",
    holder_type=HolderType.BUSINESS,
    account_type=AccountType.CHECKING,
)


def filled(account=ACCOUNT):
    """A row that keeps accounts, unsaved: to fill it and to read it need no database."""
    row = FundingSource()
    row.fill(account)
    return row


def other(**changes):
    return BankAccount(**(vars(ACCOUNT) | changes))


def test_what_is_encrypted_comes_back_in_clear():
    assert filled().in_clear() == ACCOUNT


def test_the_number_is_nowhere_to_be_read_in_the_row():
    stored = {name: str(value) for name, value in vars(filled()).items() if name[0] != "_"}

    assert stored["last4"] == "6789"
    assert not any("123456789" in value for value in stored.values())


def test_a_number_moved_to_another_row_does_not_open():
    row, thief = filled(), filled()
    thief.account_number_token = row.account_number_token

    with pytest.raises(crypto.Undecryptable):
        thief.in_clear()


def test_the_same_account_is_found_again_and_others_are_told_apart():
    again = filled(other(holder_name="Acme Incorporated")).fingerprint

    assert filled().fingerprint == again
    assert filled(other(account_number="123456789")).fingerprint != again
    assert filled(other(routing_number="011000015")).fingerprint != again
