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
    # Where the bank gives out a number of its own making ("tokenized") at every linking: the
    # digits that people know the account by, and what stays the same from one to the next.
    shown_as: str = ""
    lasting_id: str = field(default="", repr=False)


class LinkError(Exception):
    """Anything a provider refuses or fails to do."""


class InvalidLinkToken(LinkError):
    """The token is unknown, expired, revoked, or belongs to another environment."""


class LinkAccountMismatch(LinkError):
    """The token is good but does not open this account."""


class LinkAccountUnusable(LinkError):
    """The account is none that money can be asked from."""


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

        Raises InvalidLinkToken, LinkAccountMismatch, LinkAccountUnusable, LinkNeedsRepair,
        LinkUnavailable.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class LinkModule:
    """The provider's own script for a page of ours, and the addresses that page must allow."""

    script_url: str
    frame_source: str
    connect_source: str


class HostedLinks(LinkProvider, Protocol):
    """A provider that people meet through its own module, on a page of ours.

    The module hands over a `public_token`, good for one `accept` within minutes. What comes back is
    the customer's consent: the secret that opens the account until it is revoked.
    """

    @property
    def module(self) -> LinkModule: ...

    def start(self, *, person: str, return_url: str | None) -> str:
        """A token that opens the module, for one person. Raises LinkUnavailable.

        `person` tells people apart and says nothing about them.
        """
        ...

    def accept(self, public_token: str) -> str:
        """The consent behind `public_token`. Raises InvalidLinkToken, LinkUnavailable."""
        ...

    def open(self, consent: str, account_id: str) -> LinkedAccount:
        """The numbers of one account of a consent. Raises what `exchange` does."""
        ...

    def revoke(self, consent: str) -> None:
        """End a consent; repeatable. Raises LinkUnavailable when it is not known to have ended."""
        ...
