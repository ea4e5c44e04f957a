"""A profile nobody else is using: two test runs at once never share a server."""

from __future__ import annotations

from devstack import paths
from devstack.errors import DevstackError
from devstack.servers import Pair

SLOTS_MAX = 16


def claim_free_pair(purpose: str, *, durable: bool = False) -> Pair:
    """Claim the first free of `test`, `test-2`, … (and likewise for other purposes)."""
    name = paths.derived_profile_name(purpose)
    for number in range(1, SLOTS_MAX + 1):
        slot = name if number == 1 else f"{name}-{number}"
        pair = Pair(paths.profile(slot), durable=durable)
        if pair.claim(purpose=f"`./run {purpose}`"):
            return pair
    raise DevstackError(f"{SLOTS_MAX} copies for `./run {purpose}` run already: stop one first.")
