"""What our books say about instructions, against the networks' own: a part of the audit.

A network whose books cannot be asked is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import structlog

from common.audits import Unanswered
from networks import registry
from networks.base import BankRecord, NetworkUnavailable

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An instruction that was handed over, as we have it. `amount` is cents."""

    tenant_id: str
    instruction_id: str
    network: str
    amount: int
    currency: str
    reference: str
    is_settled: bool
    is_returned: bool


def disputed(claims: Iterable[Claim]) -> Iterator[tuple[Claim, str]]:
    """The claims that their network does not share, and how its books differ.

    The other way round, what a network has and we have not heard, may be on its way to us. Raises
    Unanswered.
    """
    for name, some in groupby(sorted(claims, key=_network), key=_network):
        yield from _disputed(name, list(some))


def _network(claim: Claim) -> str:
    return claim.network


def _disputed(name: str, claims: list[Claim]) -> Iterator[tuple[Claim, str]]:
    try:
        known = registry.get(name).records([claim.instruction_id for claim in claims])
    except KeyError:
        yield from ((claim, f"there is no network {name}") for claim in claims)
        return
    except NetworkUnavailable as error:
        log.warning("network_books_not_read", network=name, error=str(error))
        raise Unanswered(name) from error
    if known is None:
        return
    records = {record.instruction_id: record for record in known}
    for claim in claims:
        if difference := _difference(claim, records.get(claim.instruction_id)):
            yield claim, difference


def _difference(claim: Claim, record: BankRecord | None) -> str:
    """In words, or an empty string."""
    if record is None:
        return "the network knows nothing of it"
    if (record.amount, record.currency) != (claim.amount, claim.currency):
        return f"the network moved {record.amount} {record.currency}, not {claim.amount}"
    if record.reference != claim.reference:
        return f"the network's reference is {record.reference}, not {claim.reference}"
    if claim.is_settled and not record.is_settled:
        return "the network has not settled it"
    if claim.is_returned and not record.is_returned:
        return "the network has not returned it"
    return ""
