"""What Plaid's answers must contain, and what they mean here. Unknown members are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from networks import routing
from networks.base import AccountType, HolderType
from networks.links.base import LinkAccountMismatch, LinkAccountUnusable, LinkedAccount

# Plaid's subtypes of accounts that an ACH entry can debit.
ACCOUNT_TYPES = MappingProxyType(
    {
        "checking": AccountType.CHECKING,
        "cash management": AccountType.CHECKING,
        "savings": AccountType.SAVINGS,
    }
)
# The field is absent if the bank itself gave the numbers. Its other values wait for deposits, have
# failed, or compare what the person typed with a database, which does not prove whose account it
# is.
_PROVEN = (None, "automatically_verified", "manually_verified")
_TEXT_MAX = 200
_TOKEN = re.compile(r"[!-~]{1,200}")
_MASK = re.compile(r"[0-9A-Za-z]{2,4}")


class Malformed(Exception):
    """The answer does not have the form of the reference. The text names the member,
    never a value."""


def token(found: Mapping[str, Any], name: str) -> str:
    """A token in an answer. Raises Malformed."""
    text = _text(found, name)
    if not _TOKEN.fullmatch(text):
        raise Malformed(name)
    return text


def processor_account(found: Mapping[str, Any], account_id: str) -> LinkedAccount:
    """The one account of `/processor/auth/get`, where `numbers.ach` is one object or null.

    Raises Malformed, LinkAccountMismatch, LinkAccountUnusable.
    """
    return _linked(_part(found, "account"), _part(found, "numbers").get("ach"), account_id, "")


def item_account(found: Mapping[str, Any], account_id: str) -> LinkedAccount:
    """The account of `/auth/get`, which answers with lists. Raises as `processor_account` does."""
    accounts = _parts(found, "accounts")
    numbers = _parts(_part(found, "numbers"), "ach")
    account = next((one for one in accounts if one.get("account_id") == account_id), None)
    ach = next((one for one in numbers if one.get("account_id") == account_id), None)
    if account is None:
        raise LinkAccountMismatch("the consent is about other accounts")
    return _linked(account, ach, account_id, _bank_of(_part(found, "item")))


def _linked(
    account: Mapping[str, Any], ach: object, account_id: str, bank_name: str
) -> LinkedAccount:
    if _text(account, "account_id") != account_id:
        raise LinkAccountMismatch("the token opens another account")
    account_type = ACCOUNT_TYPES.get(str(account.get("subtype")))
    if account.get("type") != "depository" or account_type is None or not isinstance(ach, dict):
        raise LinkAccountUnusable("not an account with ACH numbers")
    if ach.get("can_transfer_out") is False:
        raise LinkAccountUnusable("the bank lets nobody debit it")
    if account.get("verification_status") not in _PROVEN:
        raise LinkAccountUnusable("not proven yet")
    routing_number = _text(ach, "routing")
    lasting_id = _lasting_id(account)
    return LinkedAccount(
        account_id=account_id,
        routing_number=routing_number,
        account_number=_text(ach, "account"),
        account_type=account_type,
        holder_type=_holder_type(account),
        bank_name=routing.bank_name(routing_number) or bank_name,
        shown_as=_mask(account) if lasting_id or ach.get("is_tokenized_account_number") else "",
        lasting_id=lasting_id,
    )


def _holder_type(account: Mapping[str, Any]) -> HolderType | None:
    """Whose account it is; None where Plaid does not know (`unrecognized`) or does not say."""
    told = account.get("holder_category")
    known = {"personal": HolderType.INDIVIDUAL, "business": HolderType.BUSINESS}
    return known.get(told) if isinstance(told, str) else None


def _lasting_id(account: Mapping[str, Any]) -> str:
    """An id that stays the same at every linking. Only banks whose numbers change give one."""
    found = account.get("persistent_account_id")
    return f"plaid:{found}" if isinstance(found, str) and _TOKEN.fullmatch(found) else ""


def _mask(account: Mapping[str, Any]) -> str:
    found = account.get("mask")
    return found if isinstance(found, str) and _MASK.fullmatch(found) else ""


def _bank_of(item: Mapping[str, Any]) -> str:
    name = item.get("institution_name")
    return name[:_TEXT_MAX] if isinstance(name, str) else ""


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _TEXT_MAX:
        raise Malformed(name)
    return value


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name)
    if not isinstance(value, dict):
        raise Malformed(name)
    return value


def _parts(found: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = found.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Malformed(name)
    return value
