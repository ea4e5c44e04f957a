from __future__ import annotations

import pytest

from common import crypto
from funding.models import FundingSource, FundingSourceVersion
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


class TestAVersion:
    """What a bank corrects, in an account that was typed and in one that a provider linked."""

    AFTER = other(routing_number="011000015", account_number="000777000123")

    def next_of(self, row, after=AFTER):
        version = FundingSourceVersion()
        version.copy(row)
        called = version.fingerprints_of(after)[0]
        version.refill(before=row.in_clear(), after=after, called=called)
        return version

    def test_is_the_corrected_account(self):
        assert self.next_of(filled()).in_clear() == self.AFTER

    def test_of_a_typed_account_is_known_by_the_corrected_number(self):
        version = self.next_of(filled())

        assert version.last4 == "0123"
        assert version.fingerprint == filled(self.AFTER).fingerprint

    def test_of_a_linked_account_is_known_by_what_its_provider_says(self):
        row = FundingSource()
        row.fill(ACCOUNT, shown_as="4321", lasting_id="lasting")

        version = self.next_of(row)

        assert (version.last4, version.fingerprint) == ("4321", row.fingerprint)
        assert version.in_clear() == self.AFTER

    def test_has_the_name_of_its_bank_if_that_is_known(self):
        row = filled()
        row.bank_name = "Chase"

        assert self.next_of(row, other(routing_number="121000248")).bank_name == "Wells Fargo"
        assert self.next_of(row, other(routing_number="011000015")).bank_name == "Chase"
        assert self.next_of(row, other(account_number="000777000123")).bank_name == "Chase"

    def test_has_a_number_that_opens_in_no_other_row(self):
        row = filled()
        version = self.next_of(row)
        row.account_number_token = version.account_number_token

        with pytest.raises(crypto.Undecryptable):
            row.in_clear()
