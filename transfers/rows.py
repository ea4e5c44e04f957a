"""The columns that a transfer needs to be handed to a network and to be held."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from common.leases import Leased

REASON_LENGTH_MAX = 200
# The owner may still cancel a held row; then it is over, and held no longer.
HOLD_ENDS: Mapping[str, Any] = MappingProxyType({"held_at": None, "hold_reason": ""})


class TransferRow(Leased):
    """A row that is handed to a network and that staff can hold. `hold_reason` is for staff.

    Its table also has `tenant`, `amount` in cents, `currency`, `method`, `status`, `description`,
    `network` and `updated_at`.
    """

    held_at = models.DateTimeField(null=True, blank=True)
    hold_reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)

    # A held row waits for a person, so it does not count for the age of the queue.
    QUEUED: ClassVar[Q] = Leased.QUEUED & Q(held_at=None)

    class Meta:
        abstract = True

    @property
    def is_unsent(self) -> bool:
        """Whether no network can have seen it, so that it may still be given up."""
        raise NotImplementedError


def has_a_reason(name: str) -> models.CheckConstraint:
    """A constraint: a held row has a reason, and a row that is not held has none."""
    return models.CheckConstraint(
        condition=Q(held_at=None, hold_reason="") | (Q(held_at__isnull=False) & ~Q(hold_reason="")),
        name=name,
    )


def held_first(name: str) -> models.Index:
    """An index of the few rows that staff hold."""
    return models.Index(fields=("held_at",), name=name, condition=Q(held_at__isnull=False))
