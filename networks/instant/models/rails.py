"""A connection to an instant network: its terms in versions, its key, and the line to it."""

from __future__ import annotations

from functools import cached_property

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import crypto, days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.leases import Leased
from networks import columns
from networks.instant.models.position_triggers import BEGINS
from networks.instant.states import VERSION_STATES, VersionStatus
from networks.instant.terms import RailTerms


class ProfileName(models.TextChoices):
    RTP = "rtp", "RTP"
    FEDNOW = "fednow", "FedNow"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED, BEGINS)
class InstantRail(models.Model):
    """One way to an instant network. Its name is the network's for ever, and so is the profile."""

    name = models.CharField(max_length=columns.RAIL_LENGTH_MAX, primary_key=True)
    profile = models.CharField(max_length=8, choices=ProfileName)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "instant rail"
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=r"^[a-z][a-z0-9_]*$"), name="instant_rail_name_is_plain"
            ),
            columns.one_of("profile", ProfileName, "instant_rail_profile_known"),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.get_profile_display()})"


class InstantVersion(models.Model):
    """The terms of a rail from when another person agreed to them until the next version.

    `by_command` says that a command put it in force, where the operator's word is enough.
    """

    id = PrefixedIdField("inv")
    rail = models.ForeignKey(InstantRail, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    terms = models.JSONField()
    account_token = models.TextField(editable=False)
    status = models.CharField(max_length=10, choices=VersionStatus)
    by_command = models.BooleanField(default=False)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    reason = columns.reason()
    decided_by = columns.staff()
    decided_at = columns.moment()
    superseded_at = columns.moment()

    class Meta:
        verbose_name = "version of an instant rail"
        verbose_name_plural = "versions of instant rails"
        constraints = (
            columns.one_of("status", VersionStatus, "instant_version_status_known"),
            models.UniqueConstraint(fields=("rail", "number"), name="instant_version_number"),
            models.UniqueConstraint(
                fields=("rail",), condition=Q(status="current"), name="one_current_instant_version"
            ),
            models.UniqueConstraint(
                fields=("rail",),
                condition=Q(status="proposed"),
                name="one_proposed_instant_version",
            ),
            models.CheckConstraint(
                condition=Q(by_command=True)
                | Q(decided_at=None)
                | Q(status="withdrawn")
                | ~Q(decided_by=F("proposed_by")),
                name="instant_version_decided_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(status="withdrawn") | Q(decided_by=F("proposed_by")),
                name="instant_version_withdrawn_by_its_own",
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="instant_version_decided_iff_dated",
            ),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="instant_version_says_why"
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            VERSION_STATES.trigger("instant_version_moves"),
            pgtrigger.ReadOnly(
                name="instant_version_never_changes",
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
        return f"instant.version:{self.pk}"

    @cached_property
    def parsed(self) -> RailTerms:
        """Raises InvalidTerms."""
        return RailTerms.parse(self.terms)

    @cached_property
    def account(self) -> str:
        """The number of our own account at the bank. Raises common.crypto.Undecryptable."""
        return crypto.decrypt(self.account_token, context=self.encryption_context)


class InstantKey(models.Model):
    """A key and certificate by which we show an operator who we are, in one of two slots until it
    is retired. The one that began to be used last (`used_since`) is used; the operator gets to know
    the other one meanwhile.

    `signing_request` is what the operator may sign. Its certificate is another row, with the same
    key.
    """

    id = PrefixedIdField("ink")
    rail = models.ForeignKey(InstantRail, on_delete=models.PROTECT, related_name="keys")
    private_key_token = models.TextField(editable=False)
    certificate = models.TextField()
    fingerprint = models.CharField(max_length=64)
    signing_request = models.TextField(blank=True, db_default="")
    created_by = columns.staff()
    created_at = models.DateTimeField()
    slot = models.PositiveSmallIntegerField(default=1, db_default=1)
    used_since = columns.moment()
    retired_by = columns.staff()
    retired_at = columns.moment()

    class Meta:
        verbose_name = "key of an instant rail"
        verbose_name_plural = "keys of instant rails"
        constraints = (
            models.UniqueConstraint(
                fields=("rail", "slot"), condition=Q(retired_at=None), name="one_instant_key_a_slot"
            ),
            models.CheckConstraint(condition=Q(slot__in=(1, 2)), name="instant_key_slot_known"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="instant_key_never_changes",
                fields=(
                    "rail",
                    "slot",
                    "certificate",
                    "fingerprint",
                    "signing_request",
                    "created_by",
                    "created_at",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"key of {self.rail_id} since {days.when(self.created_at)}"

    @property
    def encryption_context(self) -> str:
        return f"instant.key:{self.pk}"


class InstantLine(Leased):
    """The line by which a rail's messages are received: due work for ever, for one worker at a
    time.

    `heard_until`: everything that the operator had for us by then is stored and applied. `trouble`
    is the code of what went wrong at the last attempt, since `trouble_since`.
    """

    rail = models.OneToOneField(
        InstantRail, on_delete=models.PROTECT, primary_key=True, related_name="line"
    )
    heard_until = columns.moment()
    trouble = models.CharField(max_length=40, blank=True)
    trouble_since = columns.moment()

    class Meta:
        verbose_name = "line to an instant network"
        verbose_name_plural = "lines to instant networks"
        constraints = (
            models.CheckConstraint(
                condition=Q(trouble="", trouble_since=None)
                | ~Q(trouble="") & Q(trouble_since__isnull=False),
                name="instant_line_trouble_iff_dated",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",), name="instant_line_due", condition=Leased.QUEUED
            ),
        )
        triggers = (NEVER_TRUNCATED, columns.NEVER_DELETED)

    def __str__(self) -> str:
        return f"line to {self.rail_id}"
