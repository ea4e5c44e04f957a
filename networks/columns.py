"""Columns and rules that tables of several networks share."""

from __future__ import annotations

from datetime import datetime

import pgtrigger
from django.db import models
from django.db.models import Q

STAFF_LENGTH_MAX = 254  # an e-mail address, or the operator's own name
REASON_LENGTH_MAX = 300
TENANT_LENGTH_MAX = 32
INSTRUCTION_LENGTH_MAX = 64
RAIL_LENGTH_MAX = 16

NEVER_DELETED = pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete)


def staff() -> models.CharField[str, str]:
    """Who did it. No reference: who they are only the pages above know."""
    return models.CharField(max_length=STAFF_LENGTH_MAX, blank=True)


def reason() -> models.CharField[str, str]:
    return models.CharField(max_length=REASON_LENGTH_MAX, blank=True)


def moment() -> models.DateTimeField[datetime | None, datetime | None]:
    return models.DateTimeField(null=True, blank=True)


def one_of(column: str, choices: type[models.TextChoices], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{column}__in": choices.values}), name=name)
