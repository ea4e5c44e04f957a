"""Everything the API can be asked, as typed requests. Send them with either client.

ballast.send(calls.top_up(25_000, funding_source_id="fs_…"))
for row in ballast.each(calls.funding_transactions(status="failed")): ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ballast_client.requests import Call, ListCall
from ballast_client.types import (
    AuthorizationIn,
    AutoFundingConfig,
    BalanceSummary,
    BalanceTransaction,
    BankAccountIn,
    Event,
    FundingSource,
    FundingTransaction,
    Json,
    Method,
    Payment,
    PaymentMethod,
    Proof,
    ProvenBalance,
    Recipient,
    Speed,
    Webhook,
)


def balance_summary() -> Call[BalanceSummary]:
    return Call(method="GET", path="/balance/summary")


def balance_transactions(
    *, type: Sequence[str] = (), limit: int | None = None, **filters: str
) -> ListCall[BalanceTransaction]:
    """Filters: `sourceId`, `createdAfter`, `createdBefore`."""
    parameters = {"type": list(type), "limit": limit, **filters}
    return ListCall(method="GET", path="/balance/transactions", parameters=parameters)


def balance_transaction(transaction_id: str) -> Call[BalanceTransaction]:
    return Call(method="GET", path=f"/balance/transactions/{transaction_id}")


def proofs(*, limit: int | None = None) -> ListCall[ProvenBalance]:
    """Your balances in the operator's proofs of funds, newest day first."""
    return ListCall(method="GET", path="/balance/proofs", parameters={"limit": limit})


def proof(day: str) -> Call[Proof]:
    """The proof of a day, as `2026-11-27`. `verify_proof.py` of the documentation checks it."""
    return Call(method="GET", path=f"/balance/proofs/{day}")


def top_up(
    amount: int,
    *,
    funding_source_id: str,
    method: Method = "ach_debit",
    speed: Speed = "standard",
    description: str = "",
    metadata: Mapping[str, str] | None = None,
    authorization: AuthorizationIn | None = None,
    idempotency_key: str | None = None,
) -> Call[FundingTransaction]:
    """Ask for `amount` cents. Name the idempotency key yourself where your program may restart."""
    body = {
        "amount": amount,
        "fundingSourceId": funding_source_id,
        "fundingMethod": method,
        **_fast(speed),
        "description": description,
        "metadata": dict(metadata or {}),
        **_agreed(authorization),
    }
    return _write("POST", "/balance/topup", body, idempotency_key)


def limits() -> Call[Json]:
    return Call(method="GET", path="/balance/limits")


def funding_transactions(
    *, status: Sequence[str] = (), limit: int | None = None, **filters: str | int
) -> ListCall[FundingTransaction]:
    """Filters: `fundingMethod`, `fundingSourceId`, `trigger`, `returned`, `createdAfter`, …"""
    parameters = {"status": list(status), "limit": limit, **filters}
    return ListCall(method="GET", path="/funding/transactions", parameters=parameters)


def funding_transaction(funding_id: str) -> Call[FundingTransaction]:
    return Call(method="GET", path=f"/funding/transactions/{funding_id}")


def cancel_funding(funding_id: str) -> Call[FundingTransaction]:
    return _write("POST", f"/funding/transactions/{funding_id}/cancel")


def pay(
    amount: int,
    *,
    recipient: str | BankAccountIn,
    method: PaymentMethod = "ach_credit",
    speed: Speed = "standard",
    wait_for_funds: bool = False,
    description: str = "",
    metadata: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Call[Payment]:
    """Send `amount` cents out of the balance to a saved recipient (its id) or a bank account. The
    method "auto" is an instant payment, or ACH where the recipient's bank cannot take that."""
    body = {
        "amount": amount,
        "recipientId" if isinstance(recipient, str) else "recipient": recipient,
        "method": method,
        **_fast(speed),
        "waitForFunds": wait_for_funds,
        "description": description,
        "metadata": dict(metadata or {}),
    }
    return _write("POST", "/payments", body, idempotency_key)


def payments(
    *, status: Sequence[str] = (), limit: int | None = None, **filters: str | int
) -> ListCall[Payment]:
    """Filters: `method`, `recipientId`, `returned`, `createdAfter`, `createdBefore`, …"""
    parameters = {"status": list(status), "limit": limit, **filters}
    return ListCall(method="GET", path="/payments", parameters=parameters)


def payment(payment_id: str) -> Call[Payment]:
    return Call(method="GET", path=f"/payments/{payment_id}")


def cancel_payment(payment_id: str) -> Call[Payment]:
    return _write("POST", f"/payments/{payment_id}/cancel")


def save_recipient(account: BankAccountIn, *, nickname: str | None = None) -> Call[Recipient]:
    """So that a repeat payment needs no account number; `nickname` is what you call it."""
    body = account if nickname is None else {**account, "nickname": nickname}
    return _write("POST", "/recipients", body)


def recipients(*, include_removed: bool = False) -> ListCall[Recipient]:
    parameters = {"includeRemoved": "true" if include_removed else None}
    return ListCall(method="GET", path="/recipients", parameters=parameters)


def recipient(recipient_id: str) -> Call[Recipient]:
    return Call(method="GET", path=f"/recipients/{recipient_id}")


def remove_recipient(recipient_id: str) -> Call[Json]:
    return _write("DELETE", f"/recipients/{recipient_id}")


def link_account(
    link_processor_token: str,
    link_account_id: str,
    *,
    account_holder_name: str,
    account_holder_type: str | None = None,
    authorization: AuthorizationIn | None = None,
) -> Call[FundingSource]:
    """`account_holder_type` counts where the provider does not tell whose account it is."""
    told = {} if account_holder_type is None else {"accountHolderType": account_holder_type}
    body = {
        "linkProcessorToken": link_processor_token,
        "linkAccountId": link_account_id,
        "accountHolderName": account_holder_name,
        **told,
        **_agreed(authorization),
    }
    return _write("POST", "/balance/funding-sources", body)


def enter_account(
    *,
    account_number: str,
    routing_number: str,
    account_holder_name: str,
    account_holder_type: str = "business",
    account_type: str = "checking",
    authorization: AuthorizationIn | None = None,
) -> Call[FundingSource]:
    body = {
        **_agreed(authorization),
        "accountNumber": account_number,
        "routingNumber": routing_number,
        "accountHolderName": account_holder_name,
        "accountHolderType": account_holder_type,
        "accountType": account_type,
    }
    return _write("POST", "/balance/funding-sources/manual", body)


def funding_sources(*, include_removed: bool = False) -> ListCall[FundingSource]:
    parameters = {"includeRemoved": "true" if include_removed else None}
    return ListCall(method="GET", path="/balance/funding-sources", parameters=parameters)


def funding_source(source_id: str) -> Call[FundingSource]:
    return Call(method="GET", path=f"/balance/funding-sources/{source_id}")


def verify_account(source_id: str, amounts: tuple[int, int]) -> Call[FundingSource]:
    path = f"/balance/funding-sources/{source_id}/verify"
    return _write("POST", path, {"amounts": list(amounts)})


def make_default(source_id: str) -> Call[FundingSource]:
    return _write("POST", f"/balance/funding-sources/{source_id}/default")


def remove_account(source_id: str) -> Call[Json]:
    return _write("DELETE", f"/balance/funding-sources/{source_id}")


def auto_funding() -> Call[AutoFundingConfig]:
    return Call(method="GET", path="/balance/auto-funding/config")


def configure_auto_funding(**changes: Any) -> Call[AutoFundingConfig]:
    """A partial update by the API's own field names: `enabled=True, lowBalanceThreshold=20_000`."""
    return _write("POST", "/balance/auto-funding/config", changes)


def auto_funding_decisions() -> ListCall[Json]:
    return ListCall(method="GET", path="/balance/auto-funding/decisions")


def register_webhook(url: str, events: Sequence[str], *, description: str = "") -> Call[Webhook]:
    """The answer is the only place that shows the `secret`. It is None in an answer that was lost
    and is given again: then call `rotate_webhook_secret`."""
    body = {"url": url, "events": list(events), "description": description}
    return _write("POST", "/webhooks", body)


def webhooks() -> ListCall[Webhook]:
    return ListCall(method="GET", path="/webhooks")


def webhook(webhook_id: str) -> Call[Webhook]:
    return Call(method="GET", path=f"/webhooks/{webhook_id}")


def change_webhook(webhook_id: str, **changes: Any) -> Call[Webhook]:
    return _write("PATCH", f"/webhooks/{webhook_id}", changes)


def remove_webhook(webhook_id: str) -> Call[Json]:
    return _write("DELETE", f"/webhooks/{webhook_id}")


def rotate_webhook_secret(webhook_id: str) -> Call[Webhook]:
    return _write("POST", f"/webhooks/{webhook_id}/rotate-secret", {})


def test_webhook(webhook_id: str) -> Call[Json]:
    return _write("POST", f"/webhooks/{webhook_id}/test")


def deliveries(webhook_id: str) -> ListCall[Json]:
    return ListCall(method="GET", path=f"/webhooks/{webhook_id}/deliveries")


def delivery(delivery_id: str) -> Call[Json]:
    """With its tries: what was sent, and what came back."""
    return Call(method="GET", path=f"/webhooks/deliveries/{delivery_id}")


def resend_delivery(delivery_id: str) -> Call[Json]:
    return _write("POST", f"/webhooks/deliveries/{delivery_id}/resend")


def replay_webhook(
    webhook_id: str, *, since: str, until: str, only_failed: bool = True
) -> Call[Json]:
    """Send the events of a window again; its ends are times such as 2026-11-20T15:00:00Z."""
    body = {"from": since, "to": until, "onlyFailed": only_failed}
    return _write("POST", f"/webhooks/{webhook_id}/replay", body)


def event(event_id: str) -> Call[Event]:
    return Call(method="GET", path=f"/events/{event_id}")


def events() -> ListCall[Event]:
    return ListCall(method="GET", path="/events")


def sandbox_step(funding_id: str, step: str) -> Call[FundingTransaction]:
    """`step`: advance, complete, fail, return. Sandbox tenants only."""
    return _write("POST", f"/sandbox/funding-transactions/{funding_id}/{step}")


def sandbox_payment_step(payment_id: str, step: str) -> Call[Payment]:
    """`step`: advance, complete, fail, return. Sandbox tenants only."""
    return _write("POST", f"/sandbox/payments/{payment_id}/{step}")


def sandbox_confirmation(funding_id: str) -> Call[Json]:
    """The magic links of those who are asked to approve it. Sandbox tenants only."""
    return Call(method="GET", path=f"/sandbox/confirmations/{funding_id}")


def sandbox_payment_confirmation(payment_id: str) -> Call[Json]:
    """The magic links of those who are asked to approve it. Sandbox tenants only."""
    return Call(method="GET", path=f"/sandbox/payments/{payment_id}/confirmation")


def sandbox_process_due() -> Call[Json]:
    """Run all due work now. Sandbox tenants only."""
    return _write("POST", "/sandbox/process-due")


def _fast(speed: Speed) -> dict[str, str]:
    """The body's `speed`, unless it is the usual one: so a body of an older release stays the same,
    and may be repeated under its idempotency key."""
    return {} if speed == "standard" else {"speed": speed}


def _agreed(authorization: AuthorizationIn | None) -> dict[str, AuthorizationIn]:
    return {} if authorization is None else {"authorization": authorization}


def _write(
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> Call[Any]:
    return Call(method=method, path=path, body=body, idempotency_key=idempotency_key)
