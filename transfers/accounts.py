"""A bank account that we keep: one way to store, find and decrypt it, for every table of
accounts.

Its bank may say later that it is not quite so (a notification of change). Then the account gets a
new version (decision 0135): what goes out from then on has the new data, and what was there before
stays, because money that was sent to it may still come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

import pgtrigger
from django.db import models
from django.db.models import Q

from common import crypto
from networks import routing, spellings
from networks.bank_details import BANK_NAME_MAX, HOLDER_NAME_MAX, last4
from networks.base import AccountType, BankAccount, HolderType

# What a bank may correct, and what follows from it. The number is encrypted in each row for
# itself, so the database sees only its fingerprint.
CORRECTABLE = ("bank_name", "routing_number", "last4", "fingerprint", "account_type")


class AccountData(models.Model):
    """The columns of an account. The number is encrypted, bound to its row, and never shown: people
    see `last4`."""

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
    # Of a row that was just filled: what its account may be known as, the newest key's first.
    fingerprints: Sequence[str] = ()

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
        if lasting_id:
            self.fingerprints = crypto.fingerprints(lasting_id, purpose=self.encrypted_as)
        else:
            self.fingerprints = self.fingerprints_of(account)
        self.fingerprint = self.fingerprints[0]
        self.encrypt(number)
        self.account_holder_name = account.holder_name
        self.account_holder_type = account.holder_type
        self.account_type = account.account_type

    def fingerprints_of(self, account: BankAccount) -> tuple[str, ...]:
        """What an account is recognized by, under each key, the newest first, and then in each
        spelling of before, unless its provider has a lasting id for it."""
        bank = account.routing_number
        texts = (f"{bank}:{number}" for number in spellings.all_of(account.account_number))
        names = (crypto.fingerprints(text, purpose=self.encrypted_as) for text in texts)
        return tuple(chain.from_iterable(names))

    def is_recognized_as(self, account: BankAccount) -> bool:
        """Whether the row is recognized by the number of this account."""
        return self.fingerprint in self.fingerprints_of(account)

    def encrypt(self, number: str) -> None:
        """Store the account number, bound to this row."""
        self.account_number_token = crypto.encrypt(number, context=self.encryption_context)

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


class StoredAccount(AccountData):
    """An account as it is now. `version` is 1 until its bank corrects it; then every version, the
    first and the newest included, is a row of `AccountVersion` as well."""

    version = models.PositiveIntegerField(default=1, db_default=1, editable=False)
    corrected_at = models.DateTimeField(
        null=True, blank=True, help_text="when its bank last corrected these details"
    )

    versions: Any  # the rows of `AccountVersion`

    class Meta:
        abstract = True

    def as_of(self, version: int) -> AccountData:
        """The account as it was, or is, in that version."""
        if version == self.version:
            return self
        found: AccountData = self.versions.get(number=version)
        return found

    def follow(self, newest: AccountVersion, *, number: str) -> None:
        """Become the newest version, whose account number is `number`, in one statement."""
        for name in CORRECTABLE:
            setattr(self, name, getattr(newest, name))
        self.version, self.corrected_at = newest.number, newest.created_at
        self.encrypt(number)
        columns = (*CORRECTABLE, "version", "corrected_at", "account_number_token")
        self.save(update_fields=columns)


class AccountVersion(AccountData):
    """One version of an account that was corrected, in a table with a key to that account.

    `code` and `event` are the notification of change that made it; the first version has none.
    """

    number = models.PositiveIntegerField()
    code = models.CharField(max_length=8, blank=True)
    event = models.OneToOneField(
        "network_inbox.InboundEvent",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField()

    class Meta:
        abstract = True

    def copy(self, account: StoredAccount) -> None:
        """Take over what an account has, but its number, whose encryption is bound to its row."""
        held = ("account_holder_name", "account_holder_type")
        for name in (*CORRECTABLE, *held):
            setattr(self, name, getattr(account, name))

    def refill(self, *, before: BankAccount, after: BankAccount, called: str) -> None:
        """Fill an unsaved version that has the data of `before` with those of `after`, which the
        tenant's rows know as `called`.

        Digits and a lasting id that came from a provider stay: the provider and the people still
        know the account by them.
        """
        if self.is_recognized_as(before):
            self.fingerprint = called
        if self.last4 == last4(before.account_number):
            self.last4 = last4(after.account_number)
        if after.routing_number != before.routing_number:
            self.bank_name = routing.bank_name(after.routing_number) or self.bank_name
        self.routing_number, self.account_type = after.routing_number, after.account_type
        self.encrypt(after.account_number)


def account_constraints(name: str) -> tuple[models.CheckConstraint, ...]:
    """What holds for every account."""
    return (
        models.CheckConstraint(
            condition=Q(version=1, corrected_at=None)
            | Q(version__gt=1, corrected_at__isnull=False),
            name=f"{name}_corrected_iff_dated",
        ),
    )


def version_constraints(name: str, key: str) -> tuple[models.BaseConstraint, ...]:
    """What holds for every version of an account, whose key is the column `key`."""
    return (
        models.UniqueConstraint(fields=(key, "number"), name=f"one_{name}_per_number"),
        models.CheckConstraint(
            condition=Q(number=1, code="", event=None)
            | (Q(number__gt=1, event__isnull=False) & ~Q(code="")),
            name=f"{name}_says_why",
        ),
    )


def changes_by_version(*, versions: str, key: str) -> pgtrigger.Trigger:
    """A trigger for a table of accounts: one changes only to its next version, which is stored
    already, as the present one is. `versions` is their table, `key` its column for the account."""
    stored = " AND ".join(f"stored.{column} = {{row}}.{column}" for column in CORRECTABLE)
    is_stored = (
        f"EXISTS (SELECT FROM {versions} AS stored"
        f" WHERE stored.{key} = {{row}}.id AND stored.number = {{row}}.version AND {stored})"
    )

    def changed(row: str) -> str:
        return ", ".join(f"{row}.{column}" for column in ("version", *CORRECTABLE))

    return pgtrigger.Trigger(
        name="account_changes_by_version",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=pgtrigger.Condition(f"(({changed('OLD')}) IS DISTINCT FROM ({changed('NEW')}))"),
        func=f"""
            IF NEW.version = OLD.version + 1
                AND {is_stored.format(row="OLD")} AND {is_stored.format(row="NEW")}
            THEN RETURN NEW; END IF;
            RAISE EXCEPTION 'pgtrigger: Cannot change % without a new version', TG_TABLE_NAME;
        """,
    )


# A version may change only because keys are rotated.
VERSION_NEVER_CHANGES = pgtrigger.ReadOnly(
    name="account_never_changes", exclude=("account_number_token",)
)


def unsound(account: AccountData, *, is_typed: bool) -> str:
    """What is wrong with a stored account, or an empty string.

    If `is_typed`, `last4` has to be the end of the number, and the fingerprint has to be the
    number's. An account from a provider has digits and an id of the provider's instead.
    """
    try:
        clear = account.in_clear()
    except (crypto.Undecryptable, ValueError):
        return "its number does not open"
    if not is_typed:
        return ""
    if not account.is_recognized_as(clear) or account.last4 != last4(clear.account_number):
        return "its number is not the one that it is recognized by"
    return ""
