"""Compares what we handed over with the networks' own books: a part of the audit.

A network whose books cannot be read is left out.
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


class HandedOver(Protocol):
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


T = TypeVar("T", bound=HandedOver)


def disputed(transfers: Iterable[T]) -> Iterator[tuple[T, str]]:
    """The transfers for which their network's books say something else, and what they say.

    It does not look for what a network has and we have not heard of, because the message may be on
    its way. Raises Unanswered.
    """
    for name, some in groupby(sorted(transfers, key=_network), key=_network):
        yield from _disputed(name, list(some))


def _network(transfer: HandedOver) -> str:
    return transfer.network


def _disputed(name: str, transfers: list[T]) -> Iterator[tuple[T, str]]:
    try:
        known = registry.get(name).records([transfer.pk for transfer in transfers])
    except KeyError:
        yield from ((transfer, f"there is no network {name}") for transfer in transfers)
        return
    except NetworkUnavailable as error:
        log.warning("network_books_not_read", network=name, error=str(error))
        raise Unanswered(name) from error
    if known is None:
        return
    records = {record.instruction_id: record for record in known}
    for transfer in transfers:
        if difference := _difference(transfer, records.get(transfer.pk)):
            yield transfer, difference


def _difference(ours: HandedOver, theirs: BankRecord | None) -> str:
    """The difference in words, or an empty string."""
    if theirs is None:
        return "the network knows nothing of it"
    if (theirs.amount, theirs.currency) != (ours.amount, ours.currency):
        return f"the network moved {theirs.amount} {theirs.currency}, not {ours.amount}"
    if theirs.reference != ours.network_reference:
        return f"the network's reference is {theirs.reference}, not {ours.network_reference}"
    if ours.completed_at is not None and not theirs.is_final:
        return "the network has not settled it"
    if ours.returned and not theirs.is_returned:
        return "the network has not returned it"
    return ""
