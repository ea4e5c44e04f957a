"""How much money may move, and when a second person is asked."""

from __future__ import annotations

from config import safety
from config.env import caps, count, limit
from config.settings.deployment import DEBUG

# Cents per funding transaction.
ACH_AMOUNT_MAX = count("ACH_AMOUNT_MAX", default=100_000_000, minimum=1)
RTP_AMOUNT_MAX = count("RTP_AMOUNT_MAX", default=1_000_000_000, minimum=1)
# For how many hours the account holder can approve a request for payment, once it was sent.
REQUEST_FOR_PAYMENT_HOURS = count("REQUEST_FOR_PAYMENT_HOURS", default=24, minimum=1)
# Cents per Eastern day and month, over all methods; empty means no limit.
DAILY_FUNDING_MAX = limit("DAILY_FUNDING_MAX")
MONTHLY_FUNDING_MAX = limit("MONTHLY_FUNDING_MAX")
# Cents per payment, by method.
PAYMENT_AMOUNT_MAX = {
    "ach_credit": count("PAYMENT_ACH_AMOUNT_MAX", default=100_000_000, minimum=1),
    "rtp": count("PAYMENT_RTP_AMOUNT_MAX", default=1_000_000_000, minimum=1),
}
# What a live tenant may pay out in any 24 hours (day) and any 30 days (month), unless it has limits
# of its own: cents, and how many payments.
PAYMENT_LIMITS = caps(
    "PAYMENT_LIMITS",
    default=(
        "tenant.day=100000000/1000,tenant.month=1000000000/20000,"
        "recipient.day=25000000/50,recipient.month=100000000/500,"
        "key.day=100000000/1000,key.month=1000000000/20000,"
        "person.day=50000000/500,person.month=500000000/10000"
    ),
)
# How long somebody who is new among a live tenant's owners and approvers cannot approve payments.
NEW_APPROVER_HOURS = count("NEW_APPROVER_HOURS", default=24)
# Cents above which a second person approves the payments of a live tenant that set no limit itself
# and has somebody to ask.
PAYMENT_APPROVAL_ABOVE = count("PAYMENT_APPROVAL_ABOVE", default=1_000_000)
# For how many hours a recipient of a live tenant is new: a second person approves payments to it.
RECIPIENT_COOL_DOWN_HOURS = count("RECIPIENT_COOL_DOWN_HOURS", default=24)
if not DEBUG:
    safety.require_from_to("NEW_APPROVER_HOURS", NEW_APPROVER_HOURS, 12, 720)
    safety.require_from_to("RECIPIENT_COOL_DOWN_HOURS", RECIPIENT_COOL_DOWN_HOURS, 12, 720)
# How long a payment may wait for money before it gives up.
PAYMENT_WAIT_DAYS = count("PAYMENT_WAIT_DAYS", default=7, minimum=1)
