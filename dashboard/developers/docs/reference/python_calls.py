"""Which function of `ballast_client.calls` asks for each operation, and how it takes the body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PythonCall:
    """`positional` are members of the body that come first, after the path's parameters;
    `renamed` are members whose argument is not their own name in snake case. `takes` says what
    becomes of the body: `arguments`, as they are (`own_names`), one dictionary and the members of
    `renamed` beside it (`dictionary`), or nothing.
    """

    function: str
    positional: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    takes: str = "arguments"
    takes_key: bool = False
    takes_tuple: bool = False


CALLS: Mapping[str, PythonCall] = {
    "balance_summary": PythonCall("balance_summary"),
    "balanceTransaction_list": PythonCall("balance_transactions"),
    "balanceTransaction_retrieve": PythonCall("balance_transaction"),
    "limits_retrieve": PythonCall("limits"),
    "proof_list": PythonCall("proofs"),
    "proof_retrieve": PythonCall("proof"),
    "fundingSource_list": PythonCall("funding_sources"),
    "fundingSource_link": PythonCall("link_account", ("linkProcessorToken", "linkAccountId")),
    "fundingSource_enter": PythonCall("enter_account"),
    "fundingSource_retrieve": PythonCall("funding_source"),
    "fundingSource_verify": PythonCall("verify_account", ("amounts",), takes_tuple=True),
    "fundingSource_make_default": PythonCall("make_default"),
    "fundingSource_remove": PythonCall("remove_account"),
    "topUp_create": PythonCall("top_up", ("amount",), {"fundingMethod": "method"}, takes_key=True),
    "fundingTransaction_list": PythonCall("funding_transactions"),
    "fundingTransaction_retrieve": PythonCall("funding_transaction"),
    "fundingTransaction_cancel": PythonCall("cancel_funding"),
    "autoFunding_retrieve": PythonCall("auto_funding"),
    "autoFunding_configure": PythonCall("configure_auto_funding", takes="own_names"),
    "autoFunding_decisions": PythonCall("auto_funding_decisions"),
    "payment_create": PythonCall("pay", ("amount",), {"recipientId": "recipient"}, takes_key=True),
    "payment_list": PythonCall("payments"),
    "payment_retrieve": PythonCall("payment"),
    "payment_cancel": PythonCall("cancel_payment"),
    "recipient_create": PythonCall(
        "save_recipient", renamed={"nickname": "nickname"}, takes="dictionary"
    ),
    "recipient_list": PythonCall("recipients"),
    "recipient_retrieve": PythonCall("recipient"),
    "recipient_remove": PythonCall("remove_recipient"),
    "webhook_create": PythonCall("register_webhook", ("url", "events")),
    "webhook_list": PythonCall("webhooks"),
    "webhook_retrieve": PythonCall("webhook"),
    "webhook_change": PythonCall("change_webhook", takes="own_names"),
    "webhook_rotate_secret": PythonCall("rotate_webhook_secret", takes="nothing"),
    "webhook_test": PythonCall("test_webhook"),
    "webhook_replay": PythonCall("replay_webhook", renamed={"from": "since", "to": "until"}),
    "webhook_remove": PythonCall("remove_webhook"),
    "webhookDelivery_list": PythonCall("deliveries"),
    "webhookDelivery_retrieve": PythonCall("delivery"),
    "webhookDelivery_resend": PythonCall("resend_delivery"),
    "event_list": PythonCall("events"),
    "event_retrieve": PythonCall("event"),
    "sandbox_process_due": PythonCall("sandbox_process_due"),
    "sandbox_step": PythonCall("sandbox_step"),
    "sandbox_confirmation": PythonCall("sandbox_confirmation"),
    "sandboxPayment_step": PythonCall("sandbox_payment_step"),
    "sandboxPayment_confirmation": PythonCall("sandbox_payment_confirmation"),
}
_CAPITAL = re.compile("([A-Z])")


def arguments(call: PythonCall, body: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and the named arguments that stand for `body`."""
    if call.takes == "nothing":
        return [], {}
    if call.takes == "own_names":
        return [], dict(body)
    if call.takes == "dictionary":
        own = {name: value for name, value in body.items() if name not in call.renamed}
        return [own], {call.renamed[name]: body[name] for name in call.renamed if name in body}
    first = [body[name] for name in call.positional]
    if call.takes_tuple:
        first = [tuple(value) for value in first]
    rest = {name: value for name, value in body.items() if name not in call.positional}
    return first, {call.renamed.get(name) or _snake(name): value for name, value in rest.items()}


def _snake(name: str) -> str:
    return _CAPITAL.sub(r"_\1", name).lower()
