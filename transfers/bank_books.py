"""Our books of what was handed over, against the networks' own: a part of the audit.

A network whose books cannot be asked is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any, Protocol, TypeVar

import structlog

from common.audits import Unanswered
from networks import registry
from networks.base import BankRecord, NetworkUnavailable

log = structlog.get_logger(__name__)


class Movement(Protocol):
    """A funding or payment that was handed over. `amount` is cents."""

    @property
    def pk(self) -> Any: ...
    @property
    def network(self) -> str: ...
    @property
    def amount(self) -> int: ...
    @property
    def currency(self) -> str: ...
    @property
    def network_reference(self) -> str: ...
    @property
    def completed_at(self) -> datetime | None: ...
    @property
    def returned(self) -> bool: ...


M = TypeVar("M", bound=Movement)


def disputed(movements: Iterable[M]) -> Iterator[tuple[M, str]]:
    """The movements of which their network's books say something else, and what.

    The other way round, what a network has and we have not heard, may be on its way to us. Raises
    Unanswered.
    """
    for name, some in groupby(sorted(movements, key=_network), key=_network):
        yield from _disputed(name, list(some))


def _network(movement: Movement) -> str:
    return movement.network


def _disputed(name: str, movements: list[M]) -> Iterator[tuple[M, str]]:
    try:
        known = registry.get(name).records([movement.pk for movement in movements])
    except KeyError:
        yield from ((movement, f"there is no network {name}") for movement in movements)
        return
    except NetworkUnavailable as error:
        log.warning("network_books_not_read", network=name, error=str(error))
        raise Unanswered(name) from error
    if known is None:
        return
    records = {record.instruction_id: record for record in known}
    for movement in movements:
        if difference := _difference(movement, records.get(movement.pk)):
            yield movement, difference


def _difference(ours: Movement, theirs: BankRecord | None) -> str:
    """In words, or an empty string."""
    if theirs is None:
        return "the network knows nothing of it"
    if (theirs.amount, theirs.currency) != (ours.amount, ours.currency):
        return f"the network moved {theirs.amount} {theirs.currency}, not {ours.amount}"
    if theirs.reference != ours.network_reference:
        return f"the network's reference is {theirs.reference}, not {ours.network_reference}"
    if ours.completed_at is not None and not theirs.is_settled:
        return "the network has not settled it"
    if ours.returned and not theirs.is_returned:
        return "the network has not returned it"
    return ""
