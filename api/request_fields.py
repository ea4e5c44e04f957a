"""What the request log keeps of a body: the fields that are listed for its operation, and of those
only values of the simple form that is declared with each (decision 0208).

Account numbers, tokens, names, descriptions, addresses and any other free text are in no list. A
value of another form than the declared one may be a secret in the wrong field, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from api.errors import MalformedJson
from api.parsers import parse_object
from common import ids

# Of an integer that is kept. Eight digits may be an account number (common/redaction.py).
_DIGITS_MAX = 7
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
)

Form = Callable[[object], bool]


def a_number(value: object) -> bool:
    """An integer of few digits: cents, seconds."""
    return type(value) is int and abs(value) < 10**_DIGITS_MAX


def a_flag(value: object) -> bool:
    return type(value) is bool


def a_moment(value: object) -> bool:
    """A time as our reference writes it."""
    return isinstance(value, str) and _MOMENT.fullmatch(value) is not None


def an_id(prefix: str) -> Form:
    return lambda value: ids.is_id(value, prefix)


def one_of(*choices: str) -> Form:
    return lambda value: isinstance(value, str) and value in choices


_FUNDING_METHOD = one_of("ach_debit", "rtp")
_SPEED = one_of("standard", "same_day")
_HOLDER_TYPE = one_of("business", "individual")
_ACCOUNT_TYPE = one_of("checking", "savings")
_ACCOUNT = {"accountHolderType": _HOLDER_TYPE, "accountType": _ACCOUNT_TYPE}

# By method and route below /api/v1/. An operation that is missing has no such field, or one that
# must not be kept: the amounts of a verification prove who owns an account.
KEPT: Mapping[tuple[str, str], Mapping[str, Form]] = {
    ("POST", "balance/topup"): {
        "amount": a_number,
        "fundingSourceId": an_id("fs"),
        "fundingMethod": _FUNDING_METHOD,
        "speed": _SPEED,
    },
    ("POST", "balance/auto-funding/config"): {
        "enabled": a_flag,
        "lowBalanceThreshold": a_number,
        "fundingAmount": a_number,
        "fundingMethod": _FUNDING_METHOD,
        "confirmationThreshold": a_number,
        "fundingSourceId": an_id("fs"),
        "monthlyLimit": a_number,
        "confirmTopups": a_flag,
    },
    ("POST", "balance/funding-sources"): {"accountHolderType": _HOLDER_TYPE},
    ("POST", "balance/funding-sources/manual"): _ACCOUNT,
    ("POST", "payments"): {
        "amount": a_number,
        "recipientId": an_id("rcp"),
        "method": one_of("ach_credit", "rtp", "auto"),
        "speed": _SPEED,
        "waitForFunds": a_flag,
    },
    ("POST", "recipients"): _ACCOUNT,
    ("PATCH", "webhooks/<str:endpoint_id>"): {"status": one_of("enabled", "disabled")},
    ("POST", "webhooks/<str:endpoint_id>/replay"): {
        "from": a_moment,
        "to": a_moment,
        "onlyFailed": a_flag,
    },
    ("POST", "webhooks/<str:endpoint_id>/rotate-secret"): {"overlapSeconds": a_number},
}


def kept(method: str, route: str, body: bytes) -> dict[str, Any] | None:
    """The fields of `body` that may be kept, in the order of the list; None if there are none.

    `null` is kept: it says that a setting was cleared. Never raises.
    """
    forms = KEPT.get((method, route))
    if not forms or not body:
        return None
    try:
        sent = parse_object(body)
    except MalformedJson:
        return None
    found = {
        name: sent[name]
        for name, has_form in forms.items()
        if name in sent and (sent[name] is None or has_form(sent[name]))
    }
    return found or None
