"""What every bank-linking provider looks like to the rest of the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from networks.base import AccountType, HolderType


@dataclass(frozen=True, kw_only=True)
class LinkedAccount:
    """An account as the provider knows it. The number stays out of `repr`, hence of logs."""

    account_id: str  # the provider's own id of the account
    routing_number: str
    account_number: str = field(repr=False)
    account_type: AccountType
    holder_type: HolderType
    bank_name: str


class LinkError(Exception):
    """Anything a provider refuses or fails to do."""


class InvalidLinkToken(LinkError):
    """The token is unknown, expired, revoked, or belongs to another environment."""


class LinkAccountMismatch(LinkError):
    """The token is good but does not open this account."""


class LinkNeedsRepair(LinkError):
    """The customer must sign in to the bank again before the token works."""


class LinkUnavailable(LinkError):
    """The provider gave no answer; try again later."""


class LinkProvider(Protocol):
    """An adapter. Its calls leave the process: never make one inside a database transaction."""

    @property
    def name(self) -> str: ...

    def exchange(self, token: str, account_id: str) -> LinkedAccount:
        """The numbers behind `token`, for the one account it names.

        Raises InvalidLinkToken, LinkAccountMismatch, LinkNeedsRepair, LinkUnavailable.
        """
        ...
