"""Who can approve what waits, and from when those can who came to approve a short time ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from common import days
from dashboard.auto_funding.state import people


def asked_words(addresses: Sequence[str], *, later: Mapping[str, datetime]) -> str:
    """`Asked: ann@acme.test.`, or `ann@acme.test can approve now, ben@acme.test from Nov 20, 2026,
    10:04 AM EST.` `later` has the moments from which new approvers can (`new_approvers`)."""
    waiting = [address for address in addresses if address in later]
    if not waiting:
        return f"Asked: {people(addresses)}."
    able = [address for address in addresses if address not in later]
    if not able:
        return f"Nobody can approve yet: {_from_then(waiting, later, ' can')}."
    return f"{people(able)} can approve now, {_from_then(waiting, later, '')}."


def _from_then(addresses: Sequence[str], later: Mapping[str, datetime], can: str) -> str:
    """By the moment, the first one in front."""
    moments = sorted({later[address] for address in addresses})
    return ", ".join(
        f"{people([each for each in addresses if later[each] == at])}{can} from {days.words(at)}"
        for at in moments
    )
