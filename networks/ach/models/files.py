"""Files that we send, their batches, and the numbers that they use up."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.leases import Leased
from networks.ach.models import columns
from networks.ach.models.originators import Originator
from networks.ach.models.rails import AchRail, RailVersion
from networks.ach.states import (
    BATCH_STATES,
    FILE_STATES,
    BatchStatus,
    FileKind,
    FileStatus,
)

_SENT = ("sent", "acknowledged", "part_rejected", "rejected")
_AS_BUILT = (
    "batch_count",
    "entry_count",
    "entry_hash",
    "debit_total",
    "credit_total",
    "size",
    "chunk_count",
    "sha256",
    "remote_name",
    "built_at",
    "built_by",
)


class Release(models.TextChoices):
    """Who let a file go."""

    PEOPLE = "people", "Two people"
    BELOW = "below", "Its total is below the rail's limit"
    RULE = "rule", "The rail needs no release by two"


class Answered(models.TextChoices):
    """How the bank's answer to a file came: the first one is applied to its end, and no other."""

    FILE = "file", "By a file of its own"
    SILENCE = "silence", "It refused nothing in time"
    PEOPLE = "people", "By telephone"


class OutFile(Leased):
    """A file for a bank. Cents; sums are of what its batches hold. Due work (`next_attempt_at`)
    while it is `released`: it has to be sent.

    `file_date` and `file_time` are Eastern, as in the file. `chunk_count` chunks hold the exact
    bytes, whose digest is `sha256`. `cutoff_at` is the cut-off that it must make, `missed` how many
    its entries have missed. `temporary_name` is set before the file gets its name at the bank: from
    then on it may be there. `stuck_code` says why it is not sent until a person has it tried again
    (networks.ach.sftp.errors). `acknowledgment_due_at` is by when the bank has to say something,
    `answered_how` is set once its answer begins to be applied, and `answer_digest` tells what that
    said from what another one says.
    """

    # What a file is left with that is not to be sent any more.
    NOT_DUE: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"next_attempt_at": None, "leased_until": None, "stuck_code": "", "stuck_at": None}
    )

    id = PrefixedIdField("ofl")
    rail = models.ForeignKey(
        AchRail, on_delete=models.PROTECT, related_name="files", db_index=False
    )
    version = models.ForeignKey(
        RailVersion, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=7, choices=FileKind, default=FileKind.FORWARD)
    immediate_origin = models.CharField(max_length=10)
    file_date = models.DateField()
    file_time = models.TimeField()
    modifier = models.CharField(max_length=1)
    cutoff_at = models.DateTimeField()
    missed = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=13, choices=FileStatus)
    faults = models.JSONField(default=list, blank=True)
    batch_count = models.PositiveIntegerField(default=0)
    entry_count = models.PositiveIntegerField(default=0)
    entry_hash = models.BigIntegerField(default=0)
    debit_total = models.BigIntegerField(default=0)
    credit_total = models.BigIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    chunk_count = models.PositiveIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    remote_name = models.CharField(max_length=100, blank=True)
    temporary_name = models.CharField(max_length=140, blank=True, db_default="")
    stuck_code = models.CharField(max_length=40, blank=True, db_default="")
    stuck_at = columns.moment()
    created_at = models.DateTimeField()
    built_at = columns.moment()
    built_by = columns.staff()
    held_at = columns.moment()
    held_by = columns.staff()
    held_why = columns.reason()
    first_released_at = columns.moment()
    first_released_by = columns.staff()
    released_at = columns.moment()
    released_by = columns.staff()
    released_how = models.CharField(max_length=6, choices=Release, blank=True)
    sent_at = columns.moment()
    acknowledgment_due_at = columns.moment()
    acknowledged_at = columns.moment()
    answered_how = models.CharField(max_length=7, choices=Answered, blank=True, db_default="")
    answer_digest = models.CharField(max_length=64, blank=True, db_default="")
    withdrawn_at = columns.moment()
    withdrawn_by = columns.staff()
    withdrawn_why = columns.reason()

    class Meta:
        verbose_name = "file to a bank"
        verbose_name_plural = "files to banks"
        permissions = (
            ("hold_outfile", "Can build files to banks, hold them and take them apart"),
            ("release_outfile", "Can release files to banks that others built"),
        )
        constraints = (
            columns.one_of("status", FileStatus, "out_file_status_known"),
            columns.one_of("kind", FileKind, "out_file_kind_known"),
            models.CheckConstraint(
                condition=Q(modifier__regex="^[A-Z0-9]$"), name="out_file_modifier_known"
            ),
            models.UniqueConstraint(
                fields=("immediate_origin", "file_date", "file_time", "modifier"),
                name="one_file_per_modifier",
            ),
            models.UniqueConstraint(
                fields=("rail", "remote_name"),
                condition=~Q(remote_name=""),
                name="one_file_per_remote_name",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("building", "held", "withdrawn"))
                | (
                    Q(built_at__isnull=False, size__gt=0, faults=[])
                    & ~Q(built_by="")
                    & ~Q(sha256="")
                ),
                name="out_file_is_built",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("released", *_SENT))
                | Q(released_at__isnull=False, released_how__in=("below", "rule"))
                | (
                    Q(
                        released_at__isnull=False,
                        first_released_at__isnull=False,
                        released_how="people",
                    )
                    & ~Q(released_by="")
                    & ~Q(first_released_by="")
                ),
                name="out_file_is_released",
            ),
            models.CheckConstraint(
                condition=~Q(released_how="people") | ~Q(released_by=F("first_released_by")),
                name="out_file_released_by_two",
            ),
            models.CheckConstraint(
                condition=Q(built_by="")
                | (
                    (Q(first_released_by="") | ~Q(first_released_by=F("built_by")))
                    & (Q(released_by="") | ~Q(released_by=F("built_by")))
                ),
                name="out_file_builder_releases_not",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=_SENT) | (Q(sent_at__isnull=False) & ~Q(remote_name="")),
                name="out_file_sent_is_dated",
            ),
            models.CheckConstraint(
                condition=~Q(status="held") | (Q(held_at__isnull=False) & ~Q(held_why="")),
                name="out_file_held_says_why",
            ),
            models.CheckConstraint(
                condition=~Q(status="withdrawn")
                | (Q(withdrawn_at__isnull=False) & ~Q(withdrawn_why="")),
                name="out_file_withdrawn_says_why",
            ),
            models.CheckConstraint(
                condition=Q(next_attempt_at=None) | Q(status="released"),
                name="only_released_files_are_due",
            ),
            models.CheckConstraint(
                condition=Q(stuck_code="", stuck_at=None)
                | Q(stuck_at__isnull=False, next_attempt_at=None, status="released")
                & ~Q(stuck_code=""),
                name="only_released_files_are_stuck",
            ),
            models.CheckConstraint(
                condition=Q(answered_how="") | Q(status__in=_SENT),
                name="only_sent_files_are_answered",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="out_file_to_send",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(
                fields=("rail", "cutoff_at"),
                name="out_file_open",
                condition=Q(status__in=("building", "built", "held", "released")),
            ),
            models.Index(
                fields=("rail", "acknowledgment_due_at"),
                name="out_file_unanswered",
                condition=Q(status="sent"),
            ),
            models.Index(
                fields=("stuck_at",), name="out_file_stuck", condition=Q(stuck_at__isnull=False)
            ),
            models.Index(fields=("rail", "-created_at"), name="out_file_by_rail"),
            models.Index(fields=("built_at",), name="out_file_by_build"),
            models.Index(fields=("sent_at",), name="out_file_by_sending"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            FILE_STATES.trigger("out_file_moves"),
            pgtrigger.ReadOnly(
                name="out_file_never_changes",
                fields=(
                    "rail",
                    "version",
                    "kind",
                    "immediate_origin",
                    "file_date",
                    "file_time",
                    "modifier",
                    "cutoff_at",
                    "created_at",
                ),
            ),
            # What people release is what was built.
            pgtrigger.Protect(
                name="out_file_bytes_never_change",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.built_at IS NOT NULL AND"
                    f" ({', '.join(f'OLD.{each}' for each in _AS_BUILT)}) IS DISTINCT FROM"
                    f" ({', '.join(f'NEW.{each}' for each in _AS_BUILT)})"
                ),
            ),
            # Two answers would leave some batches as one says and some as the other.
            pgtrigger.Protect(
                name="out_file_answered_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.answered_how <> '' AND OLD.answered_how <> NEW.answered_how"
                    " OR OLD.answer_digest <> '' AND OLD.answer_digest <> NEW.answer_digest"
                ),
            ),
        )

    def __str__(self) -> str:
        return self.remote_name or f"file for {days.when(self.cutoff_at)}"

    @property
    def is_in_doubt(self) -> bool:
        """Whether it may be at the bank, and nobody knows."""
        return self.status == FileStatus.RELEASED and bool(self.temporary_name)


class OutFileChunk(models.Model):
    """A piece of a file's exact bytes, which are ASCII."""

    file = models.ForeignKey(
        OutFile, on_delete=models.PROTECT, related_name="chunks", db_index=False
    )
    number = models.PositiveIntegerField()
    content_token = models.TextField(editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("file", "number"), name="one_chunk_per_number"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(name="out_file_chunk_never_moves", fields=("file", "number")),
        )

    def __str__(self) -> str:
        return f"{self.file_id} {self.number}"

    @staticmethod
    def context_of(file_id: str, number: int) -> str:
        return f"ach.out_file:{file_id}:{number}"

    @property
    def encryption_context(self) -> str:
        return self.context_of(self.file_id, self.number)


class AchBatch(models.Model):
    """Entries of one originator, class, direction, description and day. Cents.

    An offset batch (`is_offset`) has no entries of ours: it is our own account's side of the file.
    Its traces are from `first_trace` on.
    """

    id = models.BigAutoField(primary_key=True)
    file = models.ForeignKey(
        OutFile, on_delete=models.PROTECT, related_name="batches", db_index=False
    )
    batch_number = models.PositiveIntegerField()
    originator = models.ForeignKey(
        Originator, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    is_offset = models.BooleanField(default=False)
    sec = columns.sec()
    service_class = models.PositiveSmallIntegerField()
    company_name = models.CharField(max_length=16)
    company_id = models.CharField(max_length=10)
    description = models.CharField(max_length=10)
    same_day = models.BooleanField(default=False)
    effective_date = models.DateField()
    entry_count = models.PositiveIntegerField()
    entry_hash = models.BigIntegerField()
    debit_total = models.BigIntegerField()
    credit_total = models.BigIntegerField()
    first_trace = models.CharField(max_length=15)
    status = models.CharField(max_length=8, choices=BatchStatus, default=BatchStatus.FROZEN)
    code = models.CharField(max_length=40, blank=True)
    settlement_date = models.DateField(null=True, blank=True)

    class Meta:
        verbose_name = "batch"
        verbose_name_plural = "batches"
        constraints = (
            columns.one_of("status", BatchStatus, "ach_batch_status_known"),
            models.UniqueConstraint(fields=("file", "batch_number"), name="one_batch_per_number"),
            models.CheckConstraint(
                condition=Q(service_class__in=(200, 220, 225)), name="ach_batch_class_known"
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            BATCH_STATES.trigger("ach_batch_moves"),
            pgtrigger.ReadOnly(
                name="ach_batch_never_changes", exclude=("status", "code", "settlement_date")
            ),
        )

    def __str__(self) -> str:
        return f"batch {self.batch_number} of {self.company_name}"


class TraceCounter(models.Model):
    """The next trace number of a bank, without its prefix: 1 to 9,999,999, then 1 again."""

    odfi = models.CharField(max_length=8, primary_key=True)
    next = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name = "trace counter"
        constraints = (
            models.CheckConstraint(
                condition=Q(next__gte=1, next__lte=10_000_000), name="trace_in_range"
            ),
        )
        triggers = (NEVER_TRUNCATED, columns.NEVER_DELETED)

    def __str__(self) -> str:
        return self.odfi
