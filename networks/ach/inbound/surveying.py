"""Reads a whole file for what is wrong with it, before a single record of it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.items import Event, Item
from networks.ach.nacha.records import BatchControl, BatchHeader

FAULTS_KEPT = 500
# That a batch does not end is noticed at the record after it.
_NOTICED_LATE = "batch_control_missing"


@dataclass
class Survey:
    """What a file's faults come to. Batches are counted from 1, by the headers that can be read.

    `faults` are the first ones, as JSON objects; `count` is how many there are. A file that is
    `set_aside` is not used at all, nor is a bad batch.
    """

    faults: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0
    is_grave: bool = False  # whether a person has to look at the file
    set_aside: bool = False
    bad_batches: set[int] = field(default_factory=set)

    def add(self, stored: dict[str, Any]) -> bool:
        """Keep a fault; false if there are too many. The first one because of which a person has to
        look at the file is always kept."""
        self.count += 1
        is_first_grave = _is_grave(stored) and not self.is_grave
        if len(self.faults) >= FAULTS_KEPT and not is_first_grave:
            return False
        self.is_grave = self.is_grave or is_first_grave
        self.faults.append(stored)
        return True


def needs_person(faults: Iterable[Mapping[str, Any]]) -> bool:
    """Whether somebody has to look at a file itself, besides at its records."""
    return any(map(_is_grave, faults))


def _is_grave(fault: Mapping[str, Any]) -> bool:
    return fault["scope"] in {Scope.FILE, Scope.BATCH} and not fault.get("excused")


def survey(events: Iterable[Event], *, excused: Collection[str]) -> Survey:
    """Read all of it. Faults whose codes are `excused` are kept, and take nothing away."""
    state = _State(Survey(), frozenset(excused))
    for event in events:
        if isinstance(event, Fault):
            state.fault(event)
        else:
            state.item(event)
    return state.found


def as_json(fault: Fault, *, excused: bool = False) -> dict[str, Any]:
    """How a file's row keeps a fault."""
    stored = {
        "line": fault.line,
        "code": fault.code,
        "detail": fault.detail,
        "scope": fault.scope.value,
    }
    return stored | {"excused": True} if excused else stored


def excused_codes(faults: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """What a person excused when the file was read before."""
    return frozenset(str(fault["code"]) for fault in faults if fault.get("excused"))


class _State:
    """Which batch is being read: a fault of a batch says its line only.

    The faults of a header come before it, and those of a control before that one.
    """

    def __init__(self, found: Survey, excused: frozenset[str]) -> None:
        self.found = found
        self._excused = excused
        self._batches = 0
        self._open = False
        self._line = 0  # of the last fault that may be a header's

    def fault(self, fault: Fault) -> None:
        found = self.found
        is_excused = fault.code in self._excused
        found.add(as_json(fault, excused=is_excused))
        if fault.scope is Scope.FILE and not is_excused:
            found.set_aside = True
        if fault.scope is Scope.BATCH:
            self._of_batch(fault, is_excused=is_excused)

    def _of_batch(self, fault: Fault, *, is_excused: bool) -> None:
        if self._open and not is_excused:
            self.found.bad_batches.add(self._batches)
        if fault.code == _NOTICED_LATE:
            self._open = False
        elif not is_excused:
            self._line = fault.line

    def item(self, item: Item) -> None:
        if isinstance(item.record, BatchHeader):
            self._batches += 1
            self._open = True
            if item.line == self._line:
                self.found.bad_batches.add(self._batches)
        elif isinstance(item.record, BatchControl):
            self._open = False
