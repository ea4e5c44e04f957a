"""Entries that were wrong and are taken back: by two people, for one of five reasons."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from networks.ach.models.entries import AchEntry
from networks.ach.states import REVERSAL_STATES, ReversalStatus

REVERSAL_PREFIX = "rvs_"


class ReversalReason(models.TextChoices):
    """The errors that a reversal may correct (Nacha Operating Rules, 2.9.1)."""

    DUPLICATE = "duplicate", "Sent twice"
    RECEIVER = "receiver", "Wrong receiver"
    AMOUNT = "amount", "Wrong amount"
    DATE = "date", "A debit too early, or a credit too late"
    PAID_TWICE = "paid_twice", "A person who left was paid by other means as well"


class AchReversal(models.Model):
    """One reversal, from its proposal to its effect. Its id is that of the instruction that is sent
    for it. `discovered_at` is when the error was found, `effective_at` when the books of the
    original were turned back."""

    id = PrefixedIdField("rvs")
    entry = models.ForeignKey(
        AchEntry, on_delete=models.PROTECT, related_name="reversals", db_index=False
    )
    reason = models.CharField(max_length=10, choices=ReversalReason)
    note = columns.reason()
    discovered_at = models.DateTimeField()
    status = models.CharField(max_length=9, choices=ReversalStatus, default=ReversalStatus.PROPOSED)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()
    refusal = columns.reason()
    effective_at = columns.moment()

    class Meta:
        verbose_name = "reversal"
        permissions = (
            ("propose_achreversal", "Can propose to reverse an entry"),
            ("approve_achreversal", "Can approve reversals that others propose"),
        )
        constraints = (
            columns.one_of("status", ReversalStatus, "ach_reversal_status_known"),
            columns.one_of("reason", ReversalReason, "ach_reversal_reason_known"),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(note=""), name="ach_reversal_says_why"
            ),
            models.CheckConstraint(
                condition=~Q(decided_by=F("proposed_by")), name="ach_reversal_decided_by_another"
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="ach_reversal_decided_iff_dated",
            ),
            models.UniqueConstraint(
                fields=("entry",),
                condition=Q(status__in=("proposed", "approved", "done")),
                name="one_live_reversal",
            ),
        )
        indexes = (
            models.Index(
                fields=("proposed_at",),
                name="ach_reversal_open",
                condition=Q(status__in=("proposed", "approved")),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            REVERSAL_STATES.trigger("ach_reversal_moves"),
            pgtrigger.ReadOnly(
                name="ach_reversal_never_changes",
                fields=(
                    "entry",
                    "reason",
                    "note",
                    "discovered_at",
                    "proposed_by",
                    "proposed_at",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_reason_display()}, {days.when(self.proposed_at)}"
