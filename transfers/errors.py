"""Refusals that transfers in both directions share."""

from __future__ import annotations

from common.errors import Conflict, RuleViolation


class AmountAboveLimit(RuleViolation):
    code = "amount_above_limit"
    title = "Amount above the limit"
    advice = "`limit` says how much is possible; split the amount or ask for a higher limit."


class NotCancelable(Conflict):
    code = "not_cancelable"
    title = "Too late to cancel"
    advice = "Only what was not yet handed to the network can be canceled."
