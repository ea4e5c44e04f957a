"""Notifications of change: a bank says that an account is not quite what it was sent as.

What the bank says becomes the next version of the account, if it is about the version that went out
and if it can be. What cannot be decided here waits for a person, who asks the bank. Nothing that is
written about it holds account data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from networks import spellings
from networks.bank_details import checked_account_number, checked_routing_number
from networks.base import BankAccount, Correction
from networks.errors import InvalidBankDetails
from tenants.actors import Actor
from transfers.accounts import CORRECTABLE, AccountVersion, StoredAccount
from transfers.inbox.models import InboundEvent

Account = TypeVar("Account", bound=StoredAccount)

NUMBER, ROUTING, TYPE = "account_number", "routing_number", "account_type"
# What each code corrects (Nacha Operating Rules, Appendix Five).
CORRECTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "C01": (NUMBER,),
        "C02": (ROUTING,),
        "C03": (ROUTING, NUMBER),
        "C05": (TYPE,),
        "C06": (NUMBER, TYPE),
        "C07": (ROUTING, NUMBER, TYPE),
    }
)
# The name of the holder and the id of an entry change nothing in how money gets there.
ONLY_SAID = frozenset({"C04", "C09"})
WORDS = MappingProxyType(
    {NUMBER: "account number", ROUTING: "routing number", TYPE: "account type"}
)

REMOVED = "the account was removed"
KNOWN = "the account has these details already"
SAID = "noted: changes nothing in the account"


class NeedsAPerson(Exception):
    """A correction that nobody but a person can judge; its text says why, without account data."""


class Corrected(NamedTuple):
    """A correction that was applied to a locked account."""

    account: Any
    before: Mapping[str, str]  # `CORRECTABLE` columns, as they were
    event: InboundEvent

    @property
    def words(self) -> str:
        """What was corrected, as people call it."""
        return words(self.event.code)


def words(code: str) -> str:
    """What a notification of change with this code corrects: `routing number and account number`;
    empty for one that corrects nothing."""
    return " and ".join(WORDS[part] for part in CORRECTS.get(code, ()))


@dataclass(frozen=True)
class AccountBook(ABC, Generic[Account]):
    """The accounts of one table. Its rows are locked by `lock`, before any balance."""

    versions: type[AccountVersion]
    key: str  # the column of a version for its account

    @abstractmethod
    def lock(self, account_id: str) -> Account: ...

    @abstractmethod
    def is_removed(self, account: Account) -> bool: ...

    @abstractmethod
    def other_of(self, account: Account, fingerprints: Collection[str]) -> Account | None:
        """Another account that the tenant has and that is, or was, known by one of these."""

    @abstractmethod
    def called(self, fingerprints: Sequence[str], account: Account) -> str:
        """What the rows of this account's tenant call an account that has these fingerprints."""

    @abstractmethod
    def tell(self, corrected: Corrected, actor: Actor, now: datetime) -> None:
        """Tell the tenant, in the caller's transaction, and bring along what the account was known
        by."""

    @abstractmethod
    def note(self, account: Account, event: InboundEvent, actor: Actor, now: datetime) -> None:
        """Write down a correction that changes nothing."""

    def apply(
        self,
        event: InboundEvent,
        said: Correction | None,
        *,
        account_id: str,
        version: int,
        actor: Actor,
        now: datetime,
    ) -> str:
        """Correct the account whose `version` went out, in the caller's transaction.

        Returns why nothing was changed; an empty string where it was. Raises NeedsAPerson.
        """
        account = self.lock(account_id)
        if self.is_removed(account):
            return REMOVED
        if event.code in ONLY_SAID:
            self.note(account, event, actor, now)
            return SAID
        before = account.in_clear()
        after = corrected(before, event.code, said)
        if after in (before, _canonical(before)):
            return KNOWN
        if version != account.version:
            raise NeedsAPerson("the account was corrected since, to something else")
        self._replace(account, before, after, event, actor, now)
        return ""

    def _replace(
        self,
        account: Account,
        before: BankAccount,
        after: BankAccount,
        event: InboundEvent,
        actor: Actor,
        now: datetime,
    ) -> None:
        newest = self._version(account, account.version + 1, now)
        newest.code, newest.event = event.code, event
        names = newest.fingerprints_of(after)
        called = self.called(names, account)
        newest.refill(before=before, after=after, called=called)
        known_by = {newest.fingerprint, *names}
        if (other := self.other_of(account, known_by)) is not None:
            raise NeedsAPerson(f"the corrected account is the tenant's {other.pk} as well")
        if account.version == 1:
            first = self._version(account, 1, now)
            first.encrypt(before.account_number)
            first.save(force_insert=True)
        newest.save(force_insert=True)
        were = {name: getattr(account, name) for name in CORRECTABLE}
        account.follow(newest, number=after.account_number)
        self.tell(Corrected(account, were, event), actor, now)

    def _version(self, account: Account, number: int, now: datetime) -> AccountVersion:
        """An unsaved version with all that the account has now, but its number."""
        found = self.versions(**{self.key: account.pk}, number=number, created_at=now)
        found.copy(account)
        return found


def _canonical(account: BankAccount) -> BankAccount:
    """The account as it went out. Earlier releases kept numbers as they were typed."""
    return replace(account, account_number=spellings.canonical(account.account_number))


def corrected(account: BankAccount, code: str, said: Correction | None) -> BankAccount:
    """The account as its bank says that it is. Raises NeedsAPerson."""
    parts = CORRECTS.get(code)
    if parts is None:
        raise NeedsAPerson(f"{code or 'no code'}: not a correction that is applied by itself")
    if said is None or said.code != code:
        raise NeedsAPerson("its network has no corrected data")
    wanted = {part: getattr(said, part) for part in parts}
    if missing := [WORDS[part] for part, value in wanted.items() if not value]:
        raise NeedsAPerson(f"the bank names no {' and no '.join(missing)}")
    return replace(account, **{part: _checked(part, value) for part, value in wanted.items()})


def _checked(part: str, value: Any) -> Any:
    try:
        if part == ROUTING:
            return checked_routing_number(value)
        return checked_account_number(value) if part == NUMBER else value
    except InvalidBankDetails:
        raise NeedsAPerson(f"the corrected {WORDS[part]} cannot be one") from None
