"""What people are told when a proof of funds is not possible."""

from __future__ import annotations

from common.errors import StaffRefusal


class ProofRefused(StaffRefusal):
    code = "proof_refused"
    title = "The proof of funds was not taken"
    advice = "Nothing was written. Look at the day's reconciliation, then take it again."


class ProvenAlready(ProofRefused):
    """The day, or a later one, has a proof. Nothing is wrong with it."""
