"""What a bank account must look like before we keep it (decision 0012, Nacha entry fields).

No message of this module repeats what was typed: it may be an account or card number.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TypedDict

from common.text import Unseen, composed
from networks import routing, spellings
from networks.base import AccountType, BankAccount, HolderType
from networks.errors import InvalidBankDetails

HOLDER_NAME_MAX = 120
BANK_NAME_MAX = 120
# Not \w or \d, which also match other scripts. An ACH entry has room for 17 characters.
_ACCOUNT_NUMBER = re.compile(r"[0-9A-Za-z-]{4,17}")
_NOTHING_BUT_ZEROS = re.compile(r"[0-]*")
_CARD_NUMBER = re.compile(r"4[0-9]{15}|5[1-5][0-9]{14}|3[47][0-9]{13}")
_LATIN = re.compile(r"[1-9A-Za-z]")
# These are in no legal name and not in every network's alphabet, and they have a meaning in markup
# and formulas.
_NOT_IN_NAMES = re.compile(r"[<>{}\[\]=|\\^~`]")


class BankDetails(TypedDict):
    """A bank account as somebody typed it."""

    account_number: str
    routing_number: str
    holder_name: str
    holder_type: str
    account_type: str


def bank_account(details: BankDetails) -> BankAccount:
    """The account that was typed, checked. Raises InvalidBankDetails."""
    return BankAccount(
        routing_number=checked_routing_number(details["routing_number"]),
        account_number=checked_account_number(details["account_number"]),
        holder_name=checked_holder_name(details["holder_name"]),
        holder_type=HolderType(details["holder_type"]),
        account_type=AccountType(details["account_type"]),
    )


def checked_account_number(text: str) -> str:
    """The number as it goes to a bank: without spaces, in upper case. Leading zeros belong to it,
    and hyphens stay in it (`networks.spellings`).

    Raises InvalidBankDetails, also for a payment card's number, which must not be kept here.
    """
    number = spellings.canonical(text)
    if _is_card_number(number.replace("-", "")):
        raise InvalidBankDetails(
            "This looks like the number of a payment card. Send the number of the bank account.",
            field="accountNumber",
        )
    if not is_account_number(number):
        raise InvalidBankDetails(
            "An account number has 4 to 17 digits, letters or hyphens and is not all zeros.",
            field="accountNumber",
        )
    return number


def checked_routing_number(text: str) -> str:
    """The ABA number, unchanged. Raises InvalidBankDetails."""
    if not routing.validate(text):
        raise InvalidBankDetails(
            "This is not the routing number of a US bank. Check all nine digits.",
            field="routingNumber",
        )
    return text


def checked_holder_name(text: str) -> str:
    """The name in NFC, accents included. Raises InvalidBankDetails.

    An ACH file holds plain Latin characters only, so something must be left once accents are taken
    off: a blank name, or one of zeros, is refused by the network (R26).
    """
    text = _visible(text)
    if _NOT_IN_NAMES.search(text):
        raise InvalidBankDetails(
            "A name holds none of < > { } [ ] = | \\ ^ ~ `.", field="accountHolderName"
        )
    plain = unicodedata.normalize("NFKD", text)
    if len(text) > HOLDER_NAME_MAX or not _LATIN.search(plain):
        raise InvalidBankDetails(
            f"A name has up to {HOLDER_NAME_MAX} characters, and a Latin letter or a digit 1 to 9.",
            field="accountHolderName",
        )
    return text


def _visible(text: str) -> str:
    try:
        return composed(text)
    except Unseen as error:
        raise InvalidBankDetails(
            "This name holds characters that cannot be seen.", field="accountHolderName"
        ) from error


def can_be_debited(routing_number: str, account_number: str) -> bool:
    """Whether numbers that came from a link provider fit into an ACH entry."""
    return routing.validate(routing_number) and is_account_number(account_number)


def last4(number: str) -> str:
    """The end of the number, by which people recognize it; never the whole of a short number."""
    return number[-4:] if len(number) > 4 else number[-2:]


def is_account_number(number: str) -> bool:
    """Whether it has 4 to 17 digits, letters or hyphens, and is not all zeros."""
    has_form = _ACCOUNT_NUMBER.fullmatch(number) is not None
    return has_form and not _NOTHING_BUT_ZEROS.fullmatch(number)


def _is_card_number(number: str) -> bool:
    if not _CARD_NUMBER.fullmatch(number):
        return False
    digits = [int(digit) for digit in reversed(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
