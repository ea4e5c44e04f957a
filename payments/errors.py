"""Refusals about payments and their recipients."""

from __future__ import annotations

from common.errors import Conflict, InvalidInput, RuleViolation


class InvalidPaymentRule(InvalidInput):
    """For pages and commands: no operation of the API sets these."""

    code = "invalid_payment_rule"
    title = "Not a possible limit"
    advice = "Choose one in the range that is named."
    is_public = False


class PaymentMethodNotSupported(RuleViolation):
    code = "payment_method_not_supported"
    title = "Payment method not supported"
    advice = "Use a method that the tenant's payment network offers."


class PaymentLimitReached(RuleViolation):
    """The problem document also has `scope`, `window`, `measure` (`amount`, in cents, or
    `payments`), `limit`, `remaining`, and `frees_at`: when there is room, or null if never."""

    code = "payment_limit_reached"
    title = "Limit on money out reached"
    advice = (
        "Pay at most `remaining`, or wait until `freesAt`. An owner can change the limits in the"
        " dashboard."
    )


class PayerIsNew(RuleViolation):
    """The problem document also has `possible_from`: when the payment is possible."""

    code = "payer_is_new"
    title = "The owner came back a short time ago"
    advice = "Send the payment again from `possibleFrom` on, or pay less than needs an approval."


class RecipientRemoved(RuleViolation):
    code = "recipient_removed"
    title = "Recipient removed"
    advice = "Save the recipient again, or send the account in `recipient`."


class DuplicateRecipient(Conflict):
    code = "duplicate_recipient"
    title = "Recipient already saved"
    advice = "Use the recipient named in `existingId`."
