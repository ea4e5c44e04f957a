"""The colors of statuses at the desk: one tone per stored value, wherever it stands."""

from __future__ import annotations

from types import MappingProxyType

# Columns whose value says how a row stands.
STANDINGS = frozenset({"decision", "outcome", "status", "to_status"})

_VALUES = {
    "good": "accepted acknowledged active applied approved completed confirmed current delivered"
    " done enabled final fired settled",
    "info": "building created frozen in_transit new parsed pending processing released reserved"
    " sent stored",
    "warn": "awaiting_confirmation built held open pending_verification proposed requeued review"
    " suspended waiting waiting_for_funds",
    "bad": "disabled errored expired failed part_rejected refused rejected returned"
    " verification_failed",
}
_TONES = MappingProxyType({value: tone for tone, text in _VALUES.items() for value in text.split()})


def tone_of(value: object) -> str:
    """good, info, warn or bad; neutral for a status that is none of these."""
    return _TONES.get(str(value), "neutral")
