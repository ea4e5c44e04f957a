"""Movements: the ledger's lines as people think of them, one for each time money moved.

A credit or a debit is a movement by itself. Money that is set aside is one, together with the line
that says what became of it: a payment is not a lock and a settlement. What a bank sends back later
moves money again, on another day, so it is a movement of its own with the same source.

Within a span of lines, a movement is what those lines changed. A release in the span of money that
was set aside before it stands alone, so the movements of a span change the available balance by
what its lines do. A settlement changes only what is locked, and never stands alone (decision 0201).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import TextChoices

from balance import selectors
from balance.kinds import PostingType
from balance.selectors import LINE
from common.engine import arrays, sql


class Direction(TextChoices):
    """Money that was set aside and came back is a movement out that was undone."""

    IN = "in", "Money in"
    OUT = "out", "Money out"


LINES_OF = {
    Direction.IN: (PostingType.CREDIT,),
    Direction.OUT: (
        PostingType.DEBIT,
        PostingType.LOCK,
        PostingType.UNLOCK,
        PostingType.SETTLEMENT,
    ),
}

# What became of money that was set aside.
ENDS = (PostingType.UNLOCK, PostingType.SETTLEMENT)

# One range of the index by type, in its order.
_FIRST = f"""
SELECT {", ".join(f"line.{name}" for name in LINE)} FROM balance_transaction AS line
WHERE {{bounds}} ORDER BY line.sequence {{order}} LIMIT %(count)s
"""  # noqa: S608  # our own names

_SET_ASIDE_EARLIER = """EXISTS (
    SELECT FROM balance_transaction AS earlier
    WHERE earlier.source_id = line.source_id
        AND earlier.tenant_id = %(tenant_id)s
        AND earlier.source_type = line.source_type
        AND earlier.type = 'lock'
        AND earlier.sequence <= %(after)s
)"""

_IN_SPAN = (
    "line.tenant_id = %(tenant_id)s",
    "line.sequence > %(after)s::bigint",
    "line.sequence <= %(upto)s::bigint",
)

_ENDS = """
SELECT source_type, source_id, type, available_delta, locked_delta FROM balance_transaction
WHERE source_id = ANY(%(source_ids)s::text::text[])
    AND tenant_id = %(tenant_id)s
    AND type IN ('unlock', 'settlement')
    AND sequence <= %(upto)s::bigint
"""

_LAST = 2**63 - 1


@dataclass(frozen=True)
class Span:
    """The lines of a tenant whose number is above `after`, and at most `upto`."""

    after: int = 0
    upto: int = _LAST


EVERYTHING = Span()


@dataclass(frozen=True)
class Movement:
    """`first` is the line by which it is known (`selectors.LINE`), `end` what became in the span of
    money that was set aside. The deltas are cents of both together."""

    first: Mapping[str, Any]
    end: PostingType | None
    available_delta: int
    locked_delta: int

    @property
    def id(self) -> str:
        """The id of its first line."""
        return str(self.first["id"])

    @property
    def type(self) -> PostingType:
        """The type of its first line."""
        return PostingType(self.first["type"])


@dataclass(frozen=True)
class Part:
    """The movement that a line belongs to: its source, and the type of its first line."""

    source_id: str
    type: PostingType | None = None


def between(tenant_id: str, since: datetime | None, until: datetime | None) -> Span:
    """The lines made at `since` or later, and before `until`. A query for each that is given."""
    span = Span()
    if since is not None:
        first = selectors.first_sequence(tenant_id, since, pass_equal=False)
        span = Span(after=first - 1)
    if until is not None:
        end = selectors.first_sequence(tenant_id, until, pass_equal=False)
        span = Span(after=span.after, upto=end - 1)
    return span


def part_of(*, tenant_id: str, line_id: str) -> Part:
    """The movement of a line. Raises NotFound, also for another tenant's line."""
    line = selectors.transaction(tenant_id=tenant_id, transaction_id=line_id)
    kind = PostingType(line["type"])
    return Part(line["source_id"], PostingType.LOCK if kind in ENDS else kind)


def position(*, tenant_id: str, line_id: str) -> int:
    """The number of a line, where a page begins. Raises NotFound, also for another tenant's."""
    return int(selectors.transaction(tenant_id=tenant_id, transaction_id=line_id)["sequence"])


def newest(
    tenant_id: str,
    *,
    span: Span = EVERYTHING,
    direction: Direction | None = None,
    part: Part | None = None,
    before: int | None = None,
    count: int,
) -> list[Movement]:
    """The newest `count` movements of a span, of those whose number is below `before`; newest
    first. Two queries, however long the history: see `_first_lines`."""
    bounds = list(_IN_SPAN)
    if part is not None:
        bounds.append("line.source_id = %(source_id)s")
    if before is not None:
        bounds.append("line.sequence < %(before)s::bigint")
    values = {"before": before, "source_id": part.source_id if part else None, "count": count}
    lines = _first_lines(tenant_id, span, _types(direction, part), bounds, values, "DESC")
    return _movements(tenant_id, span, lines)


def oldest(
    tenant_id: str, *, span: Span = EVERYTHING, beyond: int | None = None, count: int
) -> list[Movement]:
    """The oldest `count` movements of a span, of those whose number is above `beyond`; oldest
    first. Two queries."""
    bounds = list(_IN_SPAN)
    if beyond is not None:
        bounds.append("line.sequence > %(beyond)s::bigint")
    values = {"beyond": beyond, "count": count}
    lines = _first_lines(tenant_id, span, _types(None, None), bounds, values, "ASC")
    return _movements(tenant_id, span, lines)


def _types(direction: Direction | None, part: Part | None) -> Collection[PostingType]:
    """The types of the lines that a movement may begin with."""
    types: Collection[PostingType] = set(PostingType) - {PostingType.SETTLEMENT}
    if direction is not None:
        types = [kind for kind in types if kind in LINES_OF[direction]]
    if part is not None and part.type is not None:
        begins = {part.type, PostingType.UNLOCK} if part.type == PostingType.LOCK else {part.type}
        types = [kind for kind in types if kind in begins]
    return types


def _first_lines(
    tenant_id: str,
    span: Span,
    types: Collection[PostingType],
    bounds: Sequence[str],
    values: Mapping[str, Any],
    order: str,
) -> list[dict[str, Any]]:
    """Each type is one range of the index, in order: they are merged, and no line is looked at that
    begins no movement, but for releases. Those of a span that has a beginning are looked at until
    there are enough of money that was set aside before it."""
    ranges = []
    for kind in sorted(types):
        if kind == PostingType.UNLOCK and not span.after:
            continue  # nothing was set aside before the first line
        extra = [_SET_ASIDE_EARLIER] if kind == PostingType.UNLOCK else []
        where = " AND ".join([*bounds, f"line.type = '{kind.value}'", *extra])
        ranges.append(f"({_FIRST.format(bounds=where, order=order)})")
    if not ranges:
        return []
    text = " UNION ALL ".join(ranges)
    if len(ranges) > 1:
        text += f" ORDER BY sequence {order} LIMIT %(count)s"
    given = {"tenant_id": tenant_id, "after": span.after, "upto": span.upto, **values}
    return [dict(zip(LINE, row, strict=True)) for row in sql.rows(text, given)]


def _movements(tenant_id: str, span: Span, lines: Sequence[Mapping[str, Any]]) -> list[Movement]:
    ends = _ends(tenant_id, span, lines)
    return [_movement(line, ends) for line in lines]


_Ends = dict[tuple[str, str], tuple[PostingType, int, int]]


def _ends(tenant_id: str, span: Span, lines: Sequence[Mapping[str, Any]]) -> _Ends:
    """What became of the money that these lines set aside, by source."""
    sources = [line["source_id"] for line in lines if line["type"] == PostingType.LOCK]
    if not sources:
        return {}
    values = {"source_ids": arrays.texts(sources), "tenant_id": tenant_id, "upto": span.upto}
    return {
        (source_type, source_id): (PostingType(kind), available, locked)
        for source_type, source_id, kind, available, locked in sql.rows(_ENDS, values)
    }


def _movement(line: Mapping[str, Any], ends: _Ends) -> Movement:
    kind = PostingType(line["type"])
    end, available, locked = (kind, 0, 0) if kind in ENDS else (None, 0, 0)
    if kind == PostingType.LOCK:
        source = (line["source_type"], line["source_id"])
        end, available, locked = ends.get(source, (None, 0, 0))
    return Movement(
        first=line,
        end=end,
        available_delta=line["available_delta"] + available,
        locked_delta=line["locked_delta"] + locked,
    )
