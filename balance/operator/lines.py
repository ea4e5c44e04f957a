"""Finds the operator's lines."""

from __future__ import annotations

from balance.operator.accounts import Step
from common.engine import sql

_ID = """
SELECT id FROM balance_operator_line
WHERE source_id = %(source_id)s AND source_type = %(source_type)s AND step = %(step)s
"""


def id_of(*, source_type: str, source_id: str, step: Step) -> int:
    """The id of the line of this source and step. Raises LookupError."""
    found = sql.first(_ID, {"source_type": source_type, "source_id": source_id, "step": step.value})
    if found is None:
        raise LookupError(f"{source_type} {source_id} has no line {step}")
    return int(found[0])
