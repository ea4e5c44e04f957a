"""The queues in words, and whether work waits too long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from common import queues

LATE_AFTER = timedelta(minutes=2)
_NAMES = {
    "ach.infile": "Files from banks to read",
    "ach.outfile": "Files to send to banks",
    "ach.railline": "Folders of banks to look into",
    "funding.fundingtransaction": "Funding to submit",
    "funding.linkconsent": "Bank consents to revoke",
    "funding.sourceverification": "Verifications to begin",
    "funding.depositentry": "Micro-deposits",
    "instant.instantline": "Instant networks to listen to",
    "instant.message": "Messages of instant networks to send or read",
    "network_inbox.inboundevent": "Messages to apply",
    "payments.payment": "Payments to submit",
    "seals.auditstream": "Audit log to stream",
    "tenants.outgoingemail": "E-mails",
    "webhooks.webhookdelivery": "Webhook deliveries",
}


@dataclass(frozen=True)
class QueueLine:
    """One queue; `seconds` is how long its oldest due row waits."""

    name: str
    state: queues.QueueState
    seconds: int

    @property
    def tone(self) -> str:
        return "bad" if self.seconds > LATE_AFTER.total_seconds() else "good"


def queue_lines(now: datetime) -> list[QueueLine]:
    """Every queue, the one that waits longest first."""
    lines = [
        QueueLine(name=_NAMES.get(state.name, state.name), state=state, seconds=int(state.age(now)))
        for state in queues.states(now=now)
    ]
    return sorted(lines, key=lambda line: (-line.seconds, line.name))
