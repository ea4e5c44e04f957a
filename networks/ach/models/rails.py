"""A connection to a bank: its terms in versions, its key, and the switches that stop it."""

from __future__ import annotations

from functools import cached_property

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import crypto, days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.leases import Leased
from networks.ach.models import columns
from networks.ach.states import VERSION_STATES, VersionStatus
from networks.ach.terms import RailTerms


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class AchRail(models.Model):
    """One bank that takes our files, or gives us some: a rail of another network has a row of the
    same name here when a bank's statements of its account are taken (decision 0223). Its name is
    the network's, for ever."""

    name = models.CharField(max_length=columns.RAIL_LENGTH_MAX, primary_key=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "rail"
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=r"^[a-z][a-z0-9_]*$"), name="ach_rail_name_is_plain"
            ),
        )

    def __str__(self) -> str:
        return self.name


class RailVersion(models.Model):
    """The terms of a rail from when another person agreed to them until the next version.

    `proposed_in` says where it was proposed: on the pages of staff, where another person decides,
    or by a command, where the operator's word is enough.
    """

    id = PrefixedIdField("rlv")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    terms = models.JSONField()
    offset_account_token = models.TextField(blank=True, editable=False)
    status = models.CharField(max_length=10, choices=VersionStatus)
    by_command = models.BooleanField(default=False)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    reason = columns.reason()
    decided_by = columns.staff()
    decided_at = columns.moment()
    superseded_at = columns.moment()

    class Meta:
        verbose_name = "version of a rail"
        verbose_name_plural = "versions of rails"
        constraints = (
            columns.one_of("status", VersionStatus, "rail_version_status_known"),
            models.UniqueConstraint(fields=("rail", "number"), name="rail_version_number"),
            models.UniqueConstraint(
                fields=("rail",), condition=Q(status="current"), name="one_current_version"
            ),
            models.UniqueConstraint(
                fields=("rail",), condition=Q(status="proposed"), name="one_proposed_version"
            ),
            models.CheckConstraint(
                condition=Q(by_command=True) | Q(decided_at=None) | ~Q(decided_by=F("proposed_by")),
                name="rail_version_decided_by_another",
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="rail_version_decided_iff_dated",
            ),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="rail_version_says_why"
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            VERSION_STATES.trigger("rail_version_moves"),
            pgtrigger.ReadOnly(
                name="rail_version_never_changes",
                fields=(
                    "rail",
                    "number",
                    "terms",
                    "by_command",
                    "proposed_by",
                    "proposed_at",
                    "reason",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"{self.rail_id}, version {self.number}"

    @property
    def encryption_context(self) -> str:
        return f"ach.rail_version:{self.pk}"

    @cached_property
    def parsed(self) -> RailTerms:
        """Raises InvalidTerms."""
        return RailTerms.parse(self.terms)

    @property
    def offset_account(self) -> str:
        """Our own account at the bank. Raises common.crypto.Undecryptable."""
        if not self.offset_account_token:
            return ""
        return crypto.decrypt(self.offset_account_token, context=self.encryption_context)


class AchKey(models.Model):
    """A key by which we log in at a bank, in one of two slots until it is retired. The one that
    began to be used last (`used_since`) is used; the bank gets to know the other one meanwhile."""

    id = PrefixedIdField("ack")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="keys")
    private_key_token = models.TextField(editable=False)
    public_key = models.TextField()
    fingerprint = models.CharField(max_length=100)
    created_by = columns.staff()
    created_at = models.DateTimeField()
    slot = models.PositiveSmallIntegerField(default=1, db_default=1)
    used_since = columns.moment()
    retired_by = columns.staff()
    retired_at = columns.moment()

    class Meta:
        verbose_name = "key of a rail"
        verbose_name_plural = "keys of rails"
        constraints = (
            models.UniqueConstraint(
                fields=("rail", "slot"), condition=Q(retired_at=None), name="one_key_per_slot"
            ),
            models.CheckConstraint(condition=Q(slot__in=(1, 2)), name="ach_key_slot_known"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="ach_key_never_changes",
                fields=("rail", "slot", "public_key", "fingerprint", "created_by", "created_at"),
            ),
        )

    def __str__(self) -> str:
        return f"key of {self.rail_id} since {days.when(self.created_at)}"

    @property
    def encryption_context(self) -> str:
        return f"ach.key:{self.pk}"


class RailLine(Leased):
    """The line by which a rail's files are fetched: due work for ever, for one worker at a time.

    `trouble` is the code of what went wrong at the last attempt (networks.ach.sftp.errors), since
    `trouble_since`; `fetched_at` is when a worker last began to look into all folders and then took
    everything that was there.
    """

    rail = models.OneToOneField(
        AchRail, on_delete=models.PROTECT, primary_key=True, related_name="line"
    )
    trouble = models.CharField(max_length=40, blank=True)
    trouble_since = columns.moment()
    fetched_at = columns.moment()

    class Meta:
        verbose_name = "line to a bank"
        verbose_name_plural = "lines to banks"
        constraints = (
            models.CheckConstraint(
                condition=Q(trouble="", trouble_since=None)
                | ~Q(trouble="") & Q(trouble_since__isnull=False),
                name="rail_line_trouble_iff_dated",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",), name="rail_line_due", condition=Leased.QUEUED
            ),
        )
        triggers = (NEVER_TRUNCATED, columns.NEVER_DELETED)

    def __str__(self) -> str:
        return f"line to {self.rail_id}"


class RailPart(models.TextChoices):
    """What a switch stops."""

    BUILDING = "building", "No file is built"
    SENDING = "sending", "No file is sent"
    READING = "reading", "No file is fetched or read"


class RailSwitch(models.Model):
    """One stop of a part of a rail, from when it was engaged to its release."""

    id = PrefixedIdField("rsw")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="switches")
    part = models.CharField(max_length=8, choices=RailPart)
    reason = columns.reason()
    engaged_by = columns.staff()
    engaged_at = models.DateTimeField()
    release_reason = columns.reason()
    released_by = columns.staff()
    released_at = columns.moment()

    class Meta:
        verbose_name = "switch of a rail"
        verbose_name_plural = "switches of rails"
        constraints = (
            columns.one_of("part", RailPart, "rail_switch_part_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="rail_switch_has_a_reason"),
            models.UniqueConstraint(
                fields=("rail", "part"), condition=Q(released_at=None), name="one_rail_switch"
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="rail_switch_never_changes",
                fields=("rail", "part", "reason", "engaged_by", "engaged_at"),
            ),
            pgtrigger.Protect(
                name="rail_switch_released_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.released_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.rail_id}: {self.get_part_display()}"
