"""Messages of a network that the test writes itself."""

from __future__ import annotations

from networks.base import NetworkEvent
from networks.sandbox.bank import SandboxBank
from tests.builders import NOW


class ScriptedNetwork(SandboxBank):
    """The sandbox bank, but its messages are written by the test."""

    def __init__(self, *events):
        self.events = list(events)
        self.acknowledged = []

    def poll(self, *, now, limit, id_prefix=""):
        return self.events

    def acknowledge(self, event_ids):
        self.acknowledged += event_ids


def message(row, kind, *, id="nev-1", **changes):
    """What a network says about a row that was handed to it."""
    return NetworkEvent(
        **{
            "id": id,
            "network": "sandbox",
            "instruction_id": row.pk,
            "kind": kind,
            "amount": row.amount,
            "currency": "USD",
            "occurred_at": NOW,
            **changes,
        }
    )
