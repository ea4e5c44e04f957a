"""Compares what was published outside with what the database says now.

Nothing inside the database shows that the end of a chain, or all of it, was cut off: only the
published lines do. A line `restored` says that a backup was restored on purpose: earlier lines
about later rounds no longer count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from common.audits import Finding
from seals.models import Seal, SealRound
from seals.verification import OPERATOR

SEALED, RESTORED = "ballast.sealed", "ballast.restored"
# How much of the end of our own file the usual check reads: a day or two.
OWN_BYTES_MAX = 256 * 1024
_BATCH = 1_000


class Unreadable(Exception):
    """A line does not have the form that we publish. The text says which line."""


class Published(NamedTuple):
    """What all lines together say: the digest of each round by its number, and of each head (the
    newest seal of a chain) by its chain and number."""

    rounds: dict[int, str]
    heads: dict[tuple[str, int], str]


def read(lines: Iterable[str]) -> Published:
    """Add up all lines. Raises Unreadable."""
    rounds: dict[int, str] = {}
    heads: dict[tuple[str, int], tuple[int, str]] = {}
    for place, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            _take(json.loads(line), rounds, heads)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unreadable(f"line {place} is no published seal") from error
    return Published(rounds, {key: mac for key, (_, mac) in heads.items()})


def _take(
    line: dict[str, Any], rounds: dict[int, str], heads: dict[tuple[str, int], tuple[int, str]]
) -> None:
    number = int(line["round"])
    if line["kind"] == RESTORED:
        for later in [each for each in rounds if each > number]:
            del rounds[later]
        for key in [key for key, (of_round, _) in heads.items() if of_round > number]:
            del heads[key]
        return
    if line["kind"] != SEALED:
        raise ValueError(line["kind"])
    rounds[number] = str(line["mac"])
    for chain, (at, mac) in line["heads"].items():
        heads[chain, int(at)] = (number, str(mac))


def findings(told: Published) -> Iterator[Finding]:
    """Find what was published and is not in the database any more."""
    numbers = sorted(told.rounds)
    for start in range(0, len(numbers), _BATCH):
        wanted = numbers[start : start + _BATCH]
        there = dict(SealRound.objects.filter(pk__in=wanted).values_list("number", "mac"))
        for number in wanted:
            if there.get(number) != told.rounds[number]:
                state = "is another one" if number in there else "is gone"
                yield _finding("", f"round {number}", f"was published and {state}")
    heads = sorted(told.heads)
    for start in range(0, len(heads), _BATCH):
        yield from _of_chains(told, heads[start : start + _BATCH])


def _of_chains(told: Published, keys: list[tuple[str, int]]) -> Iterator[Finding]:
    chains = {chain for chain, _ in keys}
    numbers = {number for _, number in keys}
    rows = Seal.objects.filter(chain__in=chains, number__in=numbers)
    there = {
        (chain, number): mac for chain, number, mac in rows.values_list("chain", "number", "mac")
    }
    for key in keys:
        if there.get(key) != told.heads[key]:
            state = "is another one" if key in there else "is gone"
            yield _finding(key[0], f"seal {key[1]}", f"was published and {state}")


def check_own_file() -> Iterator[Finding]:
    """Compare with the end of `SEAL_FILE`, where this machine has the file."""
    path = Path(settings.SEAL_FILE) if settings.SEAL_FILE else None
    if path is None or not path.is_file():
        return
    try:
        yield from findings(read(_end_of(path)))
    except (OSError, Unreadable) as error:
        yield _finding("", "SEAL_FILE", f"cannot be compared: {error}")


def _end_of(path: Path) -> list[str]:
    """The whole lines at the end of the file, so that the usual check costs the same however long
    it is."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - OWN_BYTES_MAX))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return lines[1:] if size > OWN_BYTES_MAX else lines


def _finding(chain: str, subject: str, message: str) -> Finding:
    return Finding(code="seal_cut", tenant_id=chain or OPERATOR, subject=subject, message=message)
