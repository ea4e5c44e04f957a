"""The columns that a transfer needs to be handed to a network and to be held."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from common.ids import ID_LENGTH_MAX
from common.leases import Leased
from networks.base import Speed

REASON_LENGTH_MAX = 200
# The owner may still cancel a held or parked row; then it is over, and neither any longer.
HOLD_ENDS: Mapping[str, Any] = MappingProxyType(
    {"held_at": None, "hold_reason": "", "parked_for": ""}
)


class TransferRow(Leased):
    """A row that is handed to a network and that staff can hold. `hold_reason` is for staff.

    `parked_for` is set by the first claim that meets a row which may not be sent for now.

    Its table also has `tenant`, `amount` in cents, `currency`, `method`, `speed`, `status`,
    `description`, `network` and `updated_at`.
    """

    held_at = models.DateTimeField(null=True, blank=True)
    hold_reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)
    parked_for = models.CharField(
        max_length=ID_LENGTH_MAX,
        blank=True,
        default="",
        db_default="",
        db_collation="C",
        help_text="the switch, or the suspended tenant, that keeps it from its network",
    )

    settlement_date = models.DateField(
        null=True, blank=True, help_text="the banking day on which the money moved, if it is known"
    )

    account_version = models.PositiveIntegerField(
        default=1,
        db_default=1,
        editable=False,
        help_text="the version of its bank account that goes out: the newest at its first claim",
    )

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


def speed_field() -> models.CharField[str, str]:
    """The column of how fast a transfer is asked to be."""
    return models.CharField(
        max_length=8,
        choices=[(each.value, each.name.capitalize().replace("_", " ")) for each in Speed],
        default=Speed.STANDARD.value,
        db_default=Speed.STANDARD.value,
        help_text="what was asked for; a network that is not so fast sends it at its usual speed",
    )


def known_speed(name: str) -> models.CheckConstraint:
    """A constraint: the speed is one that networks know."""
    return models.CheckConstraint(condition=Q(speed__in=[each.value for each in Speed]), name=name)


def to_send(name: str) -> models.Index:
    """An index of what is to be handed over (`transfers.claims`): by what keeps it back, which is
    nothing for most, then in the order in which each network gets it."""
    return models.Index(
        fields=("parked_for", "network", "next_attempt_at", "id"),
        name=name,
        condition=Q(next_attempt_at__isnull=False, held_at=None),
    )


def held_first(name: str) -> models.Index:
    """An index of the few rows that staff hold."""
    return models.Index(fields=("held_at",), name=name, condition=Q(held_at__isnull=False))
