"""Money out of the balance, the accounts it goes to, and who must approve it."""

from __future__ import annotations

from payments.models.approvals import (
    PaymentConfirmation,
    PaymentConfirmationLink,
    PaymentSettings,
)
from payments.models.payments import (
    AUTO,
    DESCRIPTION_LENGTH_MAX,
    SOURCE_TYPE,
    Payment,
    PaymentAttempt,
    PaymentEvent,
    PaymentMethod,
)
from payments.models.recipients import NICKNAME_LENGTH_MAX, Recipient, RecipientVersion
from payments.models.totals import PaymentTotal

__all__ = [
    "AUTO",
    "DESCRIPTION_LENGTH_MAX",
    "NICKNAME_LENGTH_MAX",
    "SOURCE_TYPE",
    "Payment",
    "PaymentAttempt",
    "PaymentConfirmation",
    "PaymentConfirmationLink",
    "PaymentEvent",
    "PaymentMethod",
    "PaymentSettings",
    "PaymentTotal",
    "Recipient",
    "RecipientVersion",
]
