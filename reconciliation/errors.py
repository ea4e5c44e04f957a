"""What people are told when an account or a statement is not as they want it."""

from __future__ import annotations

from common.errors import StaffRefusal


class AccountRefused(StaffRefusal):
    code = "settlement_account_refused"
    title = "The settlement account was not changed"
    advice = "Read the rail again: somebody may have been first."
