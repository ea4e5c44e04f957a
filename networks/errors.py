"""Refusals about bank accounts that money in and money out share."""

from __future__ import annotations

from common.errors import InvalidInput


class InvalidBankDetails(InvalidInput):
    code = "invalid_bank_details"
    title = "Bank details not valid"
    advice = "Compare name and numbers with a check or with online banking."
