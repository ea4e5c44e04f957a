"""What seals cover of rails: whether money moves on each, and by which code."""

from __future__ import annotations

from common.sealed import DatedRows
from networks.rails.models import Rail

KINDS = (
    DatedRows(
        name="rails",
        label="rails",
        model=Rail,
        tenant="NULL::text",
        layouts=("name kind driver created_at",),
    ),
)
