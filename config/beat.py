"""Every periodic job in one table. All are sweeps: to run one twice, or late, does no harm."""

from __future__ import annotations

from typing import Any

# Beat's clock says when a tick is due, a worker's clock whether it has expired: each may be off by
# 5 seconds.
_EXPIRES_SECONDS_MIN = 15


def every(seconds: float, task: str) -> dict[str, Any]:
    """A tick that expires soon, so that a worker that was stopped finds no long backlog of
    ticks."""
    expires = max(seconds, _EXPIRES_SECONDS_MIN)
    return {"task": task, "schedule": seconds, "options": {"expires": expires}}


def hurried(schedule: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The table for a bank whose days pass in seconds (ACH_BANK_CLOCK)."""
    return {
        name: every(_HURRIED[job["task"]], job["task"]) if job["task"] in _HURRIED else job
        for name, job in schedule.items()
    }


_HURRIED = {
    "networks.make_ach_files": 3,
    "networks.send_ach_files": 2,
    "networks.fetch_ach_files": 3,
    "networks.read_ach_files": 2,
    "networks.watch_ach_files": 5,
    "reconciliation.read_statements": 3,
    "reconciliation.close_days": 5,
    "reconciliation.match_lines": 5,
}

SCHEDULE: dict[str, dict[str, Any]] = {
    "hand funding to the networks": every(5, "funding.submit_due"),
    "apply what the networks report": every(1, "funding.process_network_events"),
    "keep what the networks say about nothing we sent": every(60, "networks.collect_unmatched"),
    "take back what suspended tenants have waiting": every(15, "transfers.withdraw_suspended"),
    "credit what dishonored returns brought back": every(60, "transfers.count_dishonored"),
    "hand payments to the networks": every(5, "payments.submit_due"),
    "apply what the networks report on payments": every(1, "payments.process_network_events"),
    "run payments that wait for money": every(10, "payments.run_waiting"),
    "give up payments that waited too long": every(60, "payments.expire_waiting"),
    "remind who approves payments, and close their approvals": every(
        60, "payments.sweep_confirmations"
    ),
    "send e-mails": every(5, "tenants.send_due_emails"),
    "end access that nobody decided on": every(60, "tenants.expire_access"),
    "send and check micro-deposits": every(5, "funding.process_verifications"),
    "revoke consents of removed bank accounts": every(60, "funding.revoke_consents"),
    "take back debits whose authorization ended": every(60, "funding.withdraw_debits"),
    "add money where the balance is low": every(30, "funding.sweep_auto_funding"),
    "try again what came back for want of funds": every(300, "funding.retry_returned"),
    "remind approvers and close their approvals": every(60, "funding.sweep_confirmations"),
    "look after webhooks": every(10, "webhooks.sweep"),
    "forget old events": every(3600, "webhooks.forget_old"),
    "forget old API requests": every(3600, "api.forget_requests"),
    "forget old idempotency keys": every(3600, "api.forget_idempotency_keys"),
    "check the ledger": every(900, "balance.check_ledger"),
    "make files for banks": every(15, "networks.make_ach_files"),
    "send files to banks": every(5, "networks.send_ach_files"),
    "fetch files from banks": every(30, "networks.fetch_ach_files"),
    "read files from banks": every(5, "networks.read_ach_files"),
    "watch the files of banks": every(30, "networks.watch_ach_files"),
    "listen to instant networks": every(1, "networks.listen_to_instant"),
    "send messages to instant networks": every(2, "networks.send_instant_messages"),
    "finish payments over instant networks": every(60, "networks.finish_instant_payments"),
    "watch positions at instant networks": every(60, "transfers.watch_positions"),
    "take bank statements": every(15, "reconciliation.read_statements"),
    "close days of settlement accounts": every(300, "reconciliation.close_days"),
    "match bank statements with the books": every(120, "reconciliation.match_lines"),
    "seal what is new": every(900, "seals.seal_due"),
    "publish what is sealed": every(3600, "seals.publish"),
    "send the audit log on": every(15, "seals.stream_audit"),
}
