"""A bank account in requests and answers: one shape wherever it appears.

Messages about fields that may hold an account number never repeat what was sent.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from rest_framework import serializers

from api.fields import StrictChoiceField, TextField
from api.serializers import StrictSerializer
from common.text import INVISIBLE

HOLDER_TYPES = ("business", "individual")
ACCOUNT_TYPES = ("checking", "savings")
_HOLDER_NAME_MAX = 120
_NUMBER_WITH_SPACES_MAX = 40
_NOT_IN_NAME = INVISIBLE + r"<>{}\[\]=|\\^~`"
_IN_NAME = f"[^{_NOT_IN_NAME}]"


def _one_of(choices: tuple[str, ...]) -> dict[str, str]:
    return {"invalid_choice": f"Send {' or '.join(choices)}."}


class AccountNumberField(TextField):
    """An account number, whose digits may be grouped by spaces; `networks.bank_details` checks it
    further."""

    schema: ClassVar = {"pattern": "^(?![0 -]*$) *([0-9A-Za-z-] *){4,17}$"}


class RoutingNumberField(TextField):
    """A routing number. Its first two digits name a Federal Reserve district; `networks.routing`
    checks the sum."""

    schema: ClassVar = {"pattern": "^(0[1-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2])[0-9]{7}$"}


class HolderNameField(TextField):
    """A name that banks accept; `networks.bank_details` checks it further."""

    schema: ClassVar = {"pattern": f"^{_IN_NAME}*[^{_NOT_IN_NAME}\\s]{_IN_NAME}*$"}


class BankAccountIn(StrictSerializer):
    """A bank account given by its numbers, as `networks.bank_details` takes it."""

    accountNumber = AccountNumberField(
        source="account_number",
        trim_whitespace=False,
        max_length=_NUMBER_WITH_SPACES_MAX,
        help_text="4–17 letters, digits or hyphens. Never shown again. Spaces, hyphens and case do"
        " not matter; leading zeros do.",
    )
    routingNumber = RoutingNumberField(
        source="routing_number", trim_whitespace=False, max_length=9, help_text="ABA, nine digits."
    )
    accountHolderName = HolderNameField(source="holder_name", max_length=_HOLDER_NAME_MAX)
    accountHolderType = StrictChoiceField(
        HOLDER_TYPES, source="holder_type", error_messages=_one_of(HOLDER_TYPES)
    )
    accountType = StrictChoiceField(
        ACCOUNT_TYPES, source="account_type", error_messages=_one_of(ACCOUNT_TYPES)
    )


class BankAccountOut(serializers.Serializer[Any]):
    """What a client sees of a bank account: everything but its number."""

    bankName = serializers.CharField(allow_null=True)
    last4 = serializers.CharField(help_text="Fewer than four for a very short account number.")
    routingNumber = serializers.CharField()
    accountHolderName = serializers.CharField()
    accountHolderType = serializers.ChoiceField(choices=HOLDER_TYPES)
    accountType = serializers.ChoiceField(choices=ACCOUNT_TYPES)


class Account(Protocol):
    """Any stored bank account (`transfers.accounts.StoredAccount`)."""

    bank_name: str
    last4: str
    routing_number: str
    account_holder_name: str
    account_holder_type: str
    account_type: str


def bank_account(account: Account) -> dict[str, Any]:
    """The fields of `BankAccountOut`."""
    return {
        "bankName": account.bank_name or None,
        "last4": account.last4,
        "routingNumber": account.routing_number,
        "accountHolderName": account.account_holder_name,
        "accountHolderType": str(account.account_holder_type),
        "accountType": str(account.account_type),
    }
