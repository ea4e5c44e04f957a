"""The codes by which our bank answers another one, in words (Nacha Operating Rules, Appendices Four
and Five)."""

from __future__ import annotations

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
# What a bank notifies: which detail of an account was wrong.
CHANGES = {
    "C01": "Account number",
    "C02": "Routing number",
    "C03": "Routing and account number",
    "C04": "Name",
    "C05": "Kind of account",
    "C06": "Account number and kind of account",
    "C07": "Routing number, account number and kind of account",
    "C08": "Receiving bank of an international entry",
    "C09": "Individual id",
    "C13": "Format of addenda",
    "C14": "Class of an international entry",
}
