"""Refusals about bank accounts that money in and money out share."""

from __future__ import annotations

from common.errors import InvalidInput


class InvalidBankDetails(InvalidInput):
    code = "invalid_bank_details"
    title = "Bank details not valid"
    advice = "Check the routing and account number on a check or in online banking."
