"""Refusals about payments and their recipients."""

from __future__ import annotations

from common.errors import Conflict, RuleViolation, StaffRefusal


class PaymentMethodNotSupported(RuleViolation):
    code = "payment_method_not_supported"
    title = "Payment method not supported"
    advice = "Use a method that the tenant's payment network offers."


class RecipientRemoved(RuleViolation):
    code = "recipient_removed"
    title = "Recipient removed"
    advice = "Save the recipient again, or send the account in `recipient`."


class DuplicateRecipient(Conflict):
    code = "duplicate_recipient"
    title = "Recipient already saved"
    advice = "Use the recipient named in `existingId`."


class NotHoldable(StaffRefusal):
    code = "payment_not_holdable"
    title = "Too late to hold"
    advice = "Only a payment that was not yet handed to the network can be held."
