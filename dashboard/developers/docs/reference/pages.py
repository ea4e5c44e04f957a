"""The pages of the reference, in the order in which they are read, and what is on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """`nouns` are the first words of the ids of its operations: `payment` of `payment_create`."""

    slug: str
    title: str
    lead: str
    nouns: tuple[str, ...]


PAGES: Sequence[Page] = (
    Page(
        "balance",
        "Balance",
        "What you have, every line of the statement, your limits, and proofs of funds.",
        ("balance", "balanceTransaction", "limits", "proof"),
    ),
    Page(
        "bank-accounts",
        "Bank accounts",
        "The accounts that you add money from. The API calls them funding sources.",
        ("fundingSource",),
    ),
    Page(
        "top-ups",
        "Top-ups",
        "Money on its way into the balance. Each top-up is a funding transaction, whether a person,"
        " a program or auto-funding asked for it.",
        ("topUp", "fundingTransaction"),
    ),
    Page(
        "auto-funding",
        "Auto-funding",
        "The rule that adds money when the balance is low, and what it decided.",
        ("autoFunding",),
    ),
    Page("payments", "Payments", "Money out of the balance.", ("payment",)),
    Page("recipients", "Recipients", "Saved accounts to pay to.", ("recipient",)),
    Page(
        "webhooks",
        "Webhook endpoints",
        "The addresses of yours that we post events to.",
        ("webhook",),
    ),
    Page(
        "deliveries",
        "Deliveries",
        "What was sent to each endpoint, and what it answered.",
        ("webhookDelivery",),
    ),
    Page(
        "events",
        "Events",
        "What happened in the last 30 days, with or without an endpoint.",
        ("event",),
    ),
    Page(
        "sandbox",
        "Sandbox",
        "Play the bank and the approvers, so that a test need not wait. Only sandbox tenants have"
        " these calls; all others are answered 404.",
        ("sandbox", "sandboxPayment"),
    ),
)
NOTICES = Page(
    "event-bodies",
    "Event bodies",
    "What we post to your endpoints.",
    (),
)


def noun_of(operation_id: str) -> str:
    return operation_id.partition("_")[0]
