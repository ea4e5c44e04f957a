"""Finds the operator's lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from common.engine import arrays, sql

_IDS = """
SELECT source_id, id FROM balance_operator_line
WHERE source_id = ANY(%(source_ids)s::text::text[]) AND source_type = %(source_type)s
"""
_CAUSES = """
SELECT id, source_type, source_id, coalesce(tenant_id, '') FROM balance_operator_line
WHERE id = ANY(%(ids)s::text::bigint[])
"""


def ids_of(*, source_type: str, source_ids: Collection[str]) -> Mapping[str, int]:
    """The ids of the lines of these sources, by source. Each of them has one line."""
    values = {"source_type": source_type, "source_ids": arrays.texts(source_ids)}
    return {source_id: int(number) for source_id, number in sql.rows(_IDS, values)}


class Cause(NamedTuple):
    """What an operator's line is about: the source that caused it, and whom it concerns."""

    source_type: str
    source_id: str
    tenant_id: str


def causes_of(ids: Collection[int]) -> Mapping[int, Cause]:
    """What these lines are about, by their ids."""
    found = sql.rows(_CAUSES, {"ids": arrays.plain(ids)})
    return {number: Cause(*about) for number, *about in found}
