"""The codes by which our bank answers another one, in words (Nacha Operating Rules, Appendices Four
and Five)."""

from __future__ import annotations

from networks.ach.nacha.faults import MEANINGS

DISHONORED = {
    "R61": "Misrouted: the return is not for us",
    "R62": "It returns a reversal, and money stays with the receiver",
    "R67": "Duplicate: the entry came back before",
    "R68": "Untimely: the return came after its time",
    "R69": "Field errors in the return",
    "R70": "We did not agree to this return (R06, R31)",
}
REFUSED = {
    "C61": "Misrouted: the change is not for us",
    "C62": "Wrong trace number",
    "C63": "Wrong company id",
    "C64": "Wrong individual id",
    "C65": "Corrected data is badly formatted",
    "C66": "Wrong discretionary data",
    "C67": "Routing number is not the one we used",
    "C68": "Account number is not the one we used",
    "C69": "Wrong transaction code",
}
_FAULTS = "faults: "


def in_words(note: str) -> str:
    """The note of a record as people read it: its faults by what they mean."""
    if not note.startswith(_FAULTS):
        return note
    return "; ".join(MEANINGS.get(code, code) for code in note.removeprefix(_FAULTS).split(", "))
