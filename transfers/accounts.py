"""A bank account that we keep: one way to store, find and decrypt it, for every table of
accounts."""

from __future__ import annotations

import hmac
from typing import ClassVar

from django.db import models

from common import crypto
from networks.bank_details import BANK_NAME_MAX, HOLDER_NAME_MAX, last4
from networks.base import AccountType, BankAccount, HolderType


class StoredAccount(models.Model):
    """The columns of a stored account. The number is encrypted, bound to its row, and never shown:
    people see `last4`."""

    bank_name = models.CharField(max_length=BANK_NAME_MAX, blank=True)
    routing_number = models.CharField(max_length=9)
    last4 = models.CharField(max_length=4)
    account_number_token = models.TextField(editable=False)
    fingerprint = models.CharField(max_length=64, editable=False)
    account_holder_name = models.CharField(max_length=HOLDER_NAME_MAX)
    account_holder_type = models.CharField(
        max_length=10, choices=[(kind.value, kind.value.capitalize()) for kind in HolderType]
    )
    account_type = models.CharField(
        max_length=8, choices=[(kind.value, kind.value.capitalize()) for kind in AccountType]
    )

    # What the row is, in words that never change, because the encryption of the number is bound to
    # them.
    encrypted_as: ClassVar[str]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.bank_name or self.routing_number} ··{self.last4}"

    @property
    def encryption_context(self) -> str:
        return f"{self.encrypted_as}.account_number:{self.pk}"

    def fill(self, account: BankAccount, *, shown_as: str = "", lasting_id: str = "") -> None:
        """Fill the columns of an unsaved row that has its id.

        Some banks make a new number at every linking. Then `shown_as` is the digits that people
        know, and `lasting_id` is what the account is recognized by.
        """
        number = account.account_number
        self.routing_number = account.routing_number
        self.last4 = shown_as or last4(number)
        self.fingerprint = crypto.fingerprint(
            lasting_id or f"{account.routing_number}:{number}", purpose=self.encrypted_as
        )
        self.account_number_token = crypto.encrypt(number, context=self.encryption_context)
        self.account_holder_name = account.holder_name
        self.account_holder_type = account.holder_type
        self.account_type = account.account_type

    def in_clear(self) -> BankAccount:
        """The account for a network, with its number. Raises common.crypto.Undecryptable."""
        number = crypto.decrypt(self.account_number_token, context=self.encryption_context)
        return BankAccount(
            routing_number=self.routing_number,
            account_number=number,
            holder_name=self.account_holder_name,
            holder_type=HolderType(self.account_holder_type),
            account_type=AccountType(self.account_type),
        )


def unsound(account: StoredAccount, *, is_typed: bool) -> str:
    """What is wrong with a stored account, or an empty string.

    If `is_typed`, `last4` has to be the end of the number, and the fingerprint has to be the
    number's. An account from a provider has digits and an id of the provider's instead.
    """
    try:
        number = account.in_clear().account_number
    except (crypto.Undecryptable, ValueError):
        return "its number does not open"
    if not is_typed:
        return ""
    text = f"{account.routing_number}:{number}"
    is_same = hmac.compare_digest(
        account.fingerprint, crypto.fingerprint(text, purpose=account.encrypted_as)
    )
    if not is_same or account.last4 != last4(number):
        return "its number is not the one that it is recognized by"
    return ""
