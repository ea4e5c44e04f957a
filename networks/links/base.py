"""What every bank-linking provider looks like to the rest of the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from networks.base import AccountType, HolderType


@dataclass(frozen=True, kw_only=True)
class LinkedAccount:
    """An account as the provider knows it. The number is left out of `repr`, and so of logs."""

    account_id: str  # the provider's own id of the account
    routing_number: str
    account_number: str = field(repr=False)
    account_type: AccountType
    holder_type: HolderType | None  # None: the provider does not tell
    bank_name: str
    # Some banks make a new ("tokenized") number at every linking. These are the digits by which
    # people know the account, and an id that stays the same at every linking.
    shown_as: str = ""
    lasting_id: str = field(default="", repr=False)


class LinkError(Exception):
    """Anything a provider refuses or fails to do."""


class InvalidLinkToken(LinkError):
    """The token is unknown, expired, revoked, or belongs to another environment."""


class LinkAccountMismatch(LinkError):
    """The token is valid but does not open this account."""


class LinkAccountUnusable(LinkError):
    """The account is of a kind that cannot be debited."""


class LinkNeedsRepair(LinkError):
    """The customer must sign in to the bank again before the token works."""


class LinkUnavailable(LinkError):
    """The provider gave no answer; try again later."""


class LinkProvider(Protocol):
    """A bank-linking provider. Its calls leave the process: never make one inside a database
    transaction."""

    @property
    def name(self) -> str: ...

    def exchange(self, token: str, account_id: str) -> LinkedAccount:
        """The numbers of the one account that `token` names.

        Raises InvalidLinkToken, LinkAccountMismatch, LinkAccountUnusable, LinkNeedsRepair,
        LinkUnavailable.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class LinkModule:
    """The provider's own script for a page of ours, and the addresses that the page must allow."""

    script_url: str
    frame_source: str
    connect_source: str


class HostedLinks(LinkProvider, Protocol):
    """A provider that people use through its own module, on a page of ours.

    The module hands over a `public_token`, which is good for one `accept` within minutes. `accept`
    returns the customer's consent: the secret that opens the account until it is revoked.
    """

    @property
    def module(self) -> LinkModule: ...

    def start(self, *, person: str, return_url: str | None) -> str:
        """A token that opens the module for one person. Raises LinkUnavailable.

        `person` is an id that tells people apart and says nothing about them.
        """
        ...

    def accept(self, public_token: str) -> str:
        """The consent that `public_token` stands for. Raises InvalidLinkToken, LinkUnavailable."""
        ...

    def open(self, consent: str, account_id: str) -> LinkedAccount:
        """The numbers of one account of a consent. Raises what `exchange` does."""
        ...

    def revoke(self, consent: str) -> None:
        """End a consent. Repeatable. Raises LinkUnavailable if it may not have ended."""
        ...
