"""Which banks take part in an instant network, as it publishes them."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField
from networks import columns
from networks.instant.models.rails import ProfileName


class ParticipantList(models.Model):
    """One import of a network's list, in force until the next one. `digest` is that of its banks
    (`participants.DIGEST`), of which those of the present list and of the one before are kept."""

    id = PrefixedIdField("ipl")
    profile = models.CharField(max_length=8, choices=ProfileName)
    banks = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    reason = columns.reason()
    imported_by = columns.staff()
    imported_at = models.DateTimeField()
    replaced_at = columns.moment()

    app_rights: ClassVar = Rights(update=("replaced_at",))

    class Meta:
        verbose_name = "list of participants"
        verbose_name_plural = "lists of participants"
        constraints = (
            columns.one_of("profile", ProfileName, "participant_list_profile_known"),
            models.CheckConstraint(
                condition=Q(banks__gte=1) & ~Q(imported_by="") & ~Q(reason=""),
                name="participant_list_says_why",
            ),
            models.UniqueConstraint(
                fields=("profile",),
                condition=Q(replaced_at=None),
                name="one_participant_list_in_force",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(name="participant_list_never_changes", exclude=("replaced_at",)),
        )

    def __str__(self) -> str:
        return f"{self.banks:,} banks of {self.get_profile_display()}"


class Participant(models.Model):
    """What one bank takes over the network: on the days from `since` to `until`, both included."""

    id = models.BigAutoField(primary_key=True)
    list = models.ForeignKey(
        ParticipantList, on_delete=models.PROTECT, related_name="participants", db_index=False
    )
    routing_number = models.CharField(max_length=9)
    name = models.CharField(max_length=140, blank=True)
    takes_payments = models.BooleanField()
    takes_requests = models.BooleanField()
    takes_returns = models.BooleanField()
    since = models.DateField(null=True, blank=True)
    until = models.DateField(null=True, blank=True)

    app_rights: ClassVar = Rights(update=False, delete=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("list", "routing_number"), name="one_participant_per_list"
            ),
            models.CheckConstraint(
                condition=Q(since=None) | Q(until=None) | Q(since__lte=F("until")),
                name="participant_days_in_order",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="participant_never_changes", operation=pgtrigger.Update),
        )

    def __str__(self) -> str:
        return f"{self.routing_number} {self.name}".strip()
