"""Finds the operator's lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from balance.operator.accounts import Step
from common.engine import arrays, sql

_ID = """
SELECT id FROM balance_operator_line
WHERE source_id = %(source_id)s AND source_type = %(source_type)s AND step = %(step)s
"""
_CAUSES = """
SELECT id, source_type, source_id, coalesce(tenant_id, '') FROM balance_operator_line
WHERE id = ANY(%(ids)s::text::bigint[])
"""


def id_of(*, source_type: str, source_id: str, step: Step) -> int:
    """The id of the line of this source and step. Raises LookupError."""
    found = sql.first(_ID, {"source_type": source_type, "source_id": source_id, "step": step.value})
    if found is None:
        raise LookupError(f"{source_type} {source_id} has no line {step}")
    return int(found[0])


class Cause(NamedTuple):
    """What an operator's line is about: the source that caused it, and whom it concerns."""

    source_type: str
    source_id: str
    tenant_id: str


def causes_of(ids: Collection[int]) -> Mapping[int, Cause]:
    """What these lines are about, by their ids."""
    found = sql.rows(_CAUSES, {"ids": arrays.plain(ids)})
    return {number: Cause(*about) for number, *about in found}
