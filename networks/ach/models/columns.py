"""Columns and rules that several tables of ACH share."""

from __future__ import annotations

from django.db import models

from networks.ach.terms import SECS
from networks.columns import (
    INSTRUCTION_LENGTH_MAX,
    NEVER_DELETED,
    RAIL_LENGTH_MAX,
    REASON_LENGTH_MAX,
    STAFF_LENGTH_MAX,
    TENANT_LENGTH_MAX,
    moment,
    one_of,
    reason,
    staff,
)

__all__ = [
    "INSTRUCTION_LENGTH_MAX",
    "NEVER_DELETED",
    "RAIL_LENGTH_MAX",
    "REASON_LENGTH_MAX",
    "SEC_CHOICES",
    "STAFF_LENGTH_MAX",
    "TENANT_LENGTH_MAX",
    "moment",
    "one_of",
    "reason",
    "sec",
    "staff",
]

SEC_CHOICES = [(sec, sec) for sec in SECS]


def sec() -> models.CharField[str, str]:
    return models.CharField("entry class (SEC)", max_length=3, choices=SEC_CHOICES)
