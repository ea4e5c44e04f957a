"""Turns what a tenant sends into a bank account that may be added.

These functions ask link providers and networks, so they run outside any database transaction.
`linking.add` stores what they return.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import SystemRandom
from types import MappingProxyType
from typing import Unpack

from common.errors import DomainError
from funding import errors
from funding.methods import METHODS
from funding.models import FundingMethod, SourceType, VerificationMethod
from networks import bank_details, links, routing, spellings
from networks.bank_details import BankDetails
from networks.base import BankAccount, HolderType, PaymentNetwork, VerificationTerms
from networks.links import base as providers

DEPOSIT_MAX = 49  # cents

_REFUSAL_OF = MappingProxyType[type[providers.LinkError], tuple[type[DomainError], str]](
    {
        providers.InvalidLinkToken: (
            errors.InvalidLinkToken,
            "The bank-linking provider does not accept this token.",
        ),
        providers.LinkAccountMismatch: (
            errors.LinkAccountMismatch,
            "This token does not open the account named by linkAccountId.",
        ),
        providers.LinkAccountUnusable: (
            errors.InvalidLinkToken,
            "The account behind this token cannot be debited.",
        ),
        providers.LinkNeedsRepair: (
            errors.LinkNeedsRepair,
            "The bank asks the account holder to sign in again.",
        ),
        providers.LinkUnavailable: (
            errors.LinkProviderUnavailable,
            "The bank-linking provider does not answer.",
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A bank account that passed every check outside the database and is not stored yet.

    `linked` is what the provider said, `consent_id` the consent that keeps the account open, if
    there is one. `is_holder_known`: whether anybody said whose account it is; if not, it is treated
    as an individual's, for which more is asked. `deposits` are the amounts (cents) of the two
    micro-deposits; None: none are sent.
    """

    type: SourceType
    account: BankAccount
    bank_name: str
    verification_method: VerificationMethod
    supported_methods: list[str]
    linked: providers.LinkedAccount | None = None
    consent_id: str = ""
    is_holder_known: bool = True
    deposits: tuple[int, int] | None = None

    @property
    def is_verified(self) -> bool:
        return self.verification_method != VerificationMethod.MICRO_DEPOSITS


def exchange(
    *, mode: str, token: str, account_id: str, holder_name: str, holder_type: str = ""
) -> Draft:
    """Look up the account behind a link provider's token. `holder_type` says whose account it is,
    where the provider does not tell.

    Raises InvalidBankDetails, InvalidLinkToken, LinkAccountMismatch, LinkNeedsRepair,
    LinkProviderUnavailable.
    """
    bank_details.checked_holder_name(holder_name)
    provider = links.for_mode(mode)
    if provider is None:
        raise errors.LinkProviderUnavailable("No bank-linking provider is connected yet.")
    with refusals():
        linked = provider.exchange(token, account_id)
    return of_linked(
        linked, mode=mode, account_id=account_id, holder_name=holder_name, holder_type=holder_type
    )


def of_linked(
    linked: providers.LinkedAccount,
    *,
    mode: str,
    account_id: str,
    holder_name: str,
    holder_type: str = "",
    consent_id: str = "",
) -> Draft:
    """Check an account that a provider opened. Raises InvalidLinkToken, LinkAccountMismatch."""
    if linked.account_id != account_id:
        raise errors.LinkAccountMismatch("The provider opened another account.")
    number = spellings.canonical(linked.account_number)
    if not bank_details.can_be_debited(linked.routing_number, number):
        raise errors.InvalidLinkToken("The account behind this token cannot be debited.")
    said = linked.holder_type or (HolderType(holder_type) if holder_type else None)
    return Draft(
        type=SourceType.LINKED,
        account=BankAccount(
            routing_number=linked.routing_number,
            account_number=number,
            holder_name=holder_name,
            holder_type=said or HolderType.INDIVIDUAL,
            account_type=linked.account_type,
        ),
        bank_name=linked.bank_name[: bank_details.BANK_NAME_MAX],
        verification_method=VerificationMethod.BANK_LINK,
        supported_methods=methods_of(mode),
        linked=linked,
        consent_id=consent_id,
        is_holder_known=said is not None,
    )


@contextmanager
def refusals() -> Iterator[None]:
    """Turn a bank-linking provider's refusal inside the block into the API's error for it."""
    try:
        yield
    except providers.LinkError as error:
        refusal, detail = _REFUSAL_OF[type(error)]
        raise refusal(detail) from error


def enter(*, mode: str, **details: Unpack[BankDetails]) -> Draft:
    """Check an account that was typed in; the network says whether it has to be verified first.

    Raises InvalidBankDetails, and NetworkNotConnected where no network could verify it or draw from
    it: for a live tenant before a live network is connected.
    """
    account = bank_details.bank_account(details)
    network = debiting_network(mode)
    if network is None:
        raise errors.NetworkNotConnected(
            "No payment network is connected for live tenants yet, so nobody could verify this"
            " bank account. It was not added."
        )
    terms = network.capabilities.verification
    must_prove = terms.needed(account)
    return Draft(
        type=SourceType.MANUAL,
        account=account,
        bank_name=routing.bank_name(account.routing_number),
        verification_method=(
            VerificationMethod.MICRO_DEPOSITS if must_prove else VerificationMethod.NOT_NEEDED
        ),
        supported_methods=methods_of(mode),
        deposits=choose_deposits(terms) if must_prove else None,
    )


def choose_deposits(terms: VerificationTerms) -> tuple[int, int]:
    """Two amounts, cents, that nobody can know: different ones, so that their order says nothing,
    unless the network says which."""
    if terms.amounts is not None:
        return terms.amounts
    first, second = SystemRandom().sample(range(1, DEPOSIT_MAX + 1), 2)
    return first, second


def can_enter(*, mode: str) -> bool:
    """Whether accounts can be typed in: a network is connected."""
    return debiting_network(mode) is not None


def debiting_network(mode: str) -> PaymentNetwork | None:
    """The network that proves accounts of tenants of `mode`: the one that will debit them."""
    return METHODS[FundingMethod.ACH_DEBIT].network(mode)


def methods_of(mode: str) -> list[str]:
    """The methods by which an account can be funded from. Every US account takes ACH; which
    accounts take another method, only its network knows."""
    return [method.name for method in METHODS.of_mode(mode)] or [FundingMethod.ACH_DEBIT]
