"""A Merkle sum tree: one digest over what every tenant owns, and the sums of it.

A leaf is a tenant's amounts under a name that only the tenant can recognize. A node's digest covers
the digests and the sums of both its children, so nobody can be left out of the sums above: whoever
knows a leaf and the siblings on the way up computes the root and the totals again.

Pairs are made from the left, level by level. A node without a partner goes up as it is: it is never
doubled, so no other list of leaves has the same root (CVE-2012-2459). The number of leaves says
which nodes have no partner; it is signed with the root, so a path cannot pretend another shape.
Leaves and nodes begin with different bytes, so that neither passes for the other.

Pure code: the file format of `docs/verify_proof.py`, which shares none of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import NamedTuple

CENTS_MAX = 2**63 - 1
DIGEST_BYTES = 32
_CENTS_BYTES = 8
NODE_BYTES = DIGEST_BYTES + 3 * _CENTS_BYTES
_LEAF, _NODE, _EMPTY = b"\0ballast leaf 1\0", b"\1", b"\2"


class Amounts(NamedTuple):
    """What is owed to some tenants, in cents: what they may spend, what settled at the bank and is
    not final yet, and what is set aside for payments."""

    available: int
    settled: int
    locked: int

    def plus(self, other: Amounts) -> Amounts:
        """The sum of both. Raises ValueError where one is out of range."""
        return Amounts(
            self.available + other.available,
            self.settled + other.settled,
            self.locked + other.locked,
        ).checked()

    def checked(self) -> Amounts:
        """These amounts. Raises ValueError unless each is from 0 to CENTS_MAX: a negative one would
        hide what others own."""
        for cents in self:
            if not 0 <= cents <= CENTS_MAX:
                raise ValueError(f"{cents} is not an amount of 0 to {CENTS_MAX} cents")
        return self

    @property
    def total(self) -> int:
        return self.available + self.settled + self.locked


NOTHING = Amounts(0, 0, 0)


class Node(NamedTuple):
    """A leaf, or what two nodes come to: the digest, and the sums below it."""

    digest: bytes
    amounts: Amounts

    @property
    def packed(self) -> bytes:
        """NODE_BYTES: the digest and three numbers, big-endian."""
        return self.digest + b"".join(cents.to_bytes(_CENTS_BYTES, "big") for cents in self.amounts)


def leaf(day: date, name: bytes, amounts: Amounts) -> Node:
    """The leaf of a tenant on a day; `name` is 32 bytes that the tenant alone can compute. Raises
    ValueError for an amount out of range."""
    if len(name) != DIGEST_BYTES:
        raise ValueError(f"the name of a leaf has {DIGEST_BYTES} bytes, not {len(name)}")
    body = _LEAF + day.isoformat().encode() + Node(name, amounts.checked()).packed
    return Node(hashlib.sha256(body).digest(), amounts)


def parent(left: Node, right: Node) -> Node:
    """What two nodes come to. Raises ValueError for sums out of range."""
    digest = hashlib.sha256(_NODE + left.packed + right.packed).digest()
    return Node(digest, left.amounts.plus(right.amounts))


@dataclass(frozen=True)
class Tree:
    """All levels of a tree, the leaves first and the root last; of no leaves, only a root. `count`
    is how many leaves there are."""

    levels: Sequence[Sequence[Node]]
    count: int

    @property
    def root(self) -> Node:
        return self.levels[-1][0]

    @property
    def packed(self) -> bytes:
        """Every node in the order of the levels, NODE_BYTES each."""
        return b"".join(node.packed for level in self.levels for node in level)


def grow(leaves: Iterable[Node]) -> Tree:
    """The tree of these leaves in their order. Raises ValueError for sums out of range, and for two
    equal leaves: two tenants could be shown the same one."""
    level = list(leaves)
    count = len(level)
    if len({node.digest for node in level}) < count:
        raise ValueError("two leaves are the same")
    levels = [level or [Node(hashlib.sha256(_EMPTY).digest(), NOTHING)]]
    while len(level) > 1:
        level = [parent(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)] + (
            level[-1:] if len(level) % 2 else []
        )
        levels.append(level)
    return Tree(levels, count)


def path_places(index: int, count: int) -> list[int]:
    """Where the siblings on the way from leaf `index` of `count` to the root stand in
    `Tree.packed`, counted in nodes. Raises ValueError for a leaf that is not there."""
    if not 0 <= index < count:
        raise ValueError(f"there is no leaf {index} of {count}")
    places, start = [], 0
    while count > 1:
        if index ^ 1 < count:
            places.append(start + (index ^ 1))
        start, index, count = start + count, index // 2, (count + 1) // 2
    return places


def climb(node: Node, *, index: int, count: int, path: Sequence[Node]) -> Node:
    """The root to which a leaf and its siblings lead. Raises ValueError for a path of another
    length, and for sums out of range."""
    if not 0 <= index < count:
        raise ValueError(f"there is no leaf {index} of {count}")
    siblings = iter(path)
    try:
        while count > 1:
            if index ^ 1 < count:
                pair = (node, next(siblings))
                node = parent(*(pair if index % 2 == 0 else pair[::-1]))
            index, count = index // 2, (count + 1) // 2
    except StopIteration:
        raise ValueError("the path is too short") from None
    if next(siblings, None) is not None:
        raise ValueError("the path is too long")
    return node


def unpack(packed: bytes) -> Node:
    """The node of `Node.packed`. Raises ValueError for another length and for a number out of
    range."""
    if len(packed) != NODE_BYTES:
        raise ValueError(f"a node has {NODE_BYTES} bytes, not {len(packed)}")
    ends = range(DIGEST_BYTES, NODE_BYTES + 1, _CENTS_BYTES)
    cents = [int.from_bytes(packed[start:end], "big") for start, end in pairwise(ends)]
    return Node(packed[:DIGEST_BYTES], Amounts(*cents).checked())
