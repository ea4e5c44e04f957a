"""Plaid's errors in our words. They are told apart by code, never by message, because messages may
change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import structlog

from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkAccountUnusable,
    LinkError,
    LinkNeedsRepair,
    LinkUnavailable,
)

log = structlog.get_logger(__name__)

_MEANING: MappingProxyType[str, type[LinkError]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "INVALID_PROCESSOR_TOKEN",
                "INVALID_ACCESS_TOKEN",
                "INVALID_PUBLIC_TOKEN",
                "ITEM_NOT_FOUND",
                "USER_PERMISSION_REVOKED",
                "USER_ACCOUNT_REVOKED",
            ),
            InvalidLinkToken,
        ),
        "INVALID_ACCOUNT_ID": LinkAccountMismatch,
        **dict.fromkeys(
            (
                "NO_AUTH_ACCOUNTS",
                "NO_ACCOUNTS",
                "PRODUCTS_NOT_SUPPORTED",
                "ITEM_NOT_SUPPORTED",
                "INSTITUTION_NO_LONGER_SUPPORTED",
            ),
            LinkAccountUnusable,
        ),
        **dict.fromkeys(
            (
                "ITEM_LOGIN_REQUIRED",
                "ITEM_LOCKED",
                "INVALID_CREDENTIALS",
                "INSUFFICIENT_CREDENTIALS",
                "INVALID_MFA",
                "INVALID_SEND_METHOD",
                "USER_SETUP_REQUIRED",
                "USER_INPUT_TIMEOUT",
                "ACCESS_NOT_GRANTED",
            ),
            LinkNeedsRepair,
        ),
    }
)
_CODE = re.compile(r"[A-Z0-9_]{1,64}")
_REQUEST_ID = re.compile(r"[0-9A-Za-z]{1,64}")


def refusal(path: str, status: int, found: Mapping[str, Any] | None) -> LinkError:
    """The error for an answer that is no success. For an unknown code it says: try again later.

    The log has the code and Plaid's id of the request, which its support asks for. It is a warning
    only if it is not the customer's doing: our keys, our limits, or a bank or Plaid being down.
    """
    told = found or {}
    code = _shaped(_CODE, told.get("error_code"))
    meaning = _MEANING.get(code, LinkUnavailable)
    write = log.warning if meaning is LinkUnavailable else log.info
    request_id = _shaped(_REQUEST_ID, told.get("request_id"))
    write("plaid_refused", path=path, status=status, code=code, plaid_request=request_id)
    return meaning(code or f"status {status}")


def no_answer(path: str, reason: str) -> LinkUnavailable:
    """The error if Plaid did not answer, or what came was not in its own words."""
    log.warning("plaid_unavailable", path=path, reason=reason)
    return LinkUnavailable(reason)


def _shaped(shape: re.Pattern[str], value: object) -> str:
    return value if isinstance(value, str) and shape.fullmatch(value) else ""
