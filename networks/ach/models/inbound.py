"""Files that a bank put there for us, as they came, and what they say record by record."""

from __future__ import annotations

from collections.abc import Sequence

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.leases import Leased
from networks.ach.models import columns
from networks.ach.models.entries import AchEntry
from networks.ach.models.files import OutFile
from networks.ach.models.rails import AchRail
from networks.ach.states import IN_FILE_STATES, RECORD_STATES, InFileStatus, RecordStatus


class InFolder(models.TextChoices):
    ACK = "ack", "Acknowledgments"
    INBOUND = "inbound", "Returns and changes"
    STATEMENTS = "statements", "Bank statements"


class RecordKind(models.TextChoices):
    RETURN = "return"
    NOC = "noc", "notification of change"
    DISHONORED = "dishonored", "dishonored return"
    CONTESTED = "contested", "contested dishonored return"
    CORRECTED_RETURN = "corrected", "corrected return"
    REFUSED_NOC = "refused_noc", "refused notification of change"
    ACK_FILE = "ack_file", "acknowledgment of a file"
    ACK_BATCH = "ack_batch", "acknowledgment of a batch"
    ACK_ENTRY = "ack_entry", "acknowledgment of an entry"
    RECEIVED = "received", "credit that nobody asked for"
    OTHER = "other"


class InFile(Leased):
    """A file as it came. Stored first, then parsed: due work until it is applied or lies with a
    person. `faults` are those of the codec: line, code, detail. `answers` is the file of ours that
    an acknowledgment is about. `uploaded_by` is empty if the bank itself put the file there. What a
    person uploads is `waiting` until another one approves it, unless it was `by_command`. It keeps
    no file of the bank's own out: that has a row of its own, also with the same bytes."""

    id = PrefixedIdField("ifl")
    rail = models.ForeignKey(
        AchRail, on_delete=models.PROTECT, related_name="in_files", db_index=False
    )
    folder = models.CharField(max_length=10, choices=InFolder)
    name = models.CharField(max_length=200)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    chunk_count = models.PositiveIntegerField()
    uploaded_by = models.CharField(
        max_length=columns.STAFF_LENGTH_MAX, blank=True, default="", db_default=""
    )
    by_command = models.BooleanField(default=False, db_default=False)
    status = models.CharField(max_length=8, choices=InFileStatus, default=InFileStatus.STORED)
    faults = models.JSONField(default=list, blank=True)
    answers = models.ForeignKey(
        OutFile, on_delete=models.PROTECT, null=True, blank=True, related_name="answers"
    )
    received_at = models.DateTimeField()
    parsed_at = columns.moment()
    applied_at = columns.moment()
    resolved_at = columns.moment()
    resolved_by = columns.staff()
    resolution = columns.reason()

    class Meta:
        verbose_name = "file from a bank"
        verbose_name_plural = "files from banks"
        constraints = (
            columns.one_of("status", InFileStatus, "in_file_status_known"),
            columns.one_of("folder", InFolder, "in_file_folder_known"),
            models.UniqueConstraint(
                fields=("rail", "sha256"),
                name="one_in_file_per_content",
                condition=Q(uploaded_by=""),
            ),
            models.UniqueConstraint(
                fields=("rail", "sha256"),
                name="one_upload_per_content",
                condition=~Q(uploaded_by="") & ~Q(status="resolved"),
            ),
            models.CheckConstraint(
                condition=~Q(status="waiting") | (~Q(uploaded_by="") & Q(by_command=False)),
                name="waiting_in_file_was_uploaded",
            ),
            models.CheckConstraint(
                condition=~Q(status="resolved")
                | (Q(resolved_at__isnull=False) & ~Q(resolution="")),
                name="resolved_in_file_says_why",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="in_file_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(fields=("received_at",), name="in_file_age"),
            models.Index(
                fields=("received_at", "id"), name="in_file_review", condition=Q(status="review")
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            IN_FILE_STATES.trigger("in_file_moves"),
            pgtrigger.ReadOnly(
                name="in_file_never_changes",
                fields=(
                    "rail",
                    "folder",
                    "name",
                    "size",
                    "sha256",
                    "chunk_count",
                    "uploaded_by",
                    "by_command",
                    "received_at",
                ),
            ),
        )

    def __str__(self) -> str:
        return self.name


class InFileChunk(models.Model):
    """A piece of a file's bytes, each byte as the character of the same number (Latin-1)."""

    file = models.ForeignKey(
        InFile, on_delete=models.PROTECT, related_name="chunks", db_index=False
    )
    number = models.PositiveIntegerField()
    content_token = models.TextField(editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("file", "number"), name="one_in_chunk_per_number"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(name="in_file_chunk_never_moves", fields=("file", "number")),
        )

    def __str__(self) -> str:
        return f"{self.file_id} {self.number}"

    @staticmethod
    def context_of(file_id: str, number: int) -> str:
        return f"ach.in_file:{file_id}:{number}"

    @property
    def encryption_context(self) -> str:
        return self.context_of(self.file_id, self.number)


class InRecord(models.Model):
    """One thing that a bank said. `line` is where its first record stands in the file.

    `settlement_day` is the banking day on which a return settles. `due_on` is the last day on which
    a person can do something about it. `reason_code` is what a dishonor or a refusal was about.
    """

    id = models.BigAutoField(primary_key=True)
    file = models.ForeignKey(
        InFile, on_delete=models.PROTECT, related_name="records", db_index=False
    )
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    line = models.PositiveIntegerField()
    kind = models.CharField(max_length=11, choices=RecordKind)
    rdfi_trace = models.CharField(max_length=15, blank=True)
    rdfi_routing = models.CharField(max_length=8, blank=True)
    settlement_day = models.DateField(null=True, blank=True)
    original_trace = models.CharField(max_length=15, blank=True)
    code = models.CharField(max_length=40, blank=True)
    reason_code = models.CharField(max_length=3, blank=True)
    amount = models.BigIntegerField(default=0)
    company_id = models.CharField(max_length=10, blank=True)
    account_fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    # Of a row that was just read: its account under each key, the newest first.
    account_fingerprints: Sequence[str] = ()
    account_last4 = models.CharField(max_length=4, blank=True)
    information = models.CharField(max_length=80, blank=True)
    entry = models.ForeignKey(
        AchEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="records"
    )
    answers = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="answered_by"
    )
    status = models.CharField(max_length=8, choices=RecordStatus, default=RecordStatus.NEW)
    note = models.CharField(max_length=200, blank=True)
    may_dishonor = models.BooleanField(default=False)
    due_on = models.DateField(null=True, blank=True)
    raw_token = models.TextField(editable=False)
    received_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()
    decided_why = columns.reason()

    class Meta:
        verbose_name = "record from a bank"
        verbose_name_plural = "records from banks"
        constraints = (
            columns.one_of("status", RecordStatus, "in_record_status_known"),
            columns.one_of("kind", RecordKind, "in_record_kind_known"),
            models.UniqueConstraint(fields=("file", "line"), name="one_record_per_line"),
            models.UniqueConstraint(
                fields=("rail", "rdfi_trace", "settlement_day", "kind"),
                condition=~Q(rdfi_trace=""),
                nulls_distinct=False,
                name="one_record_per_rdfi_trace",
            ),
            models.CheckConstraint(
                condition=~Q(status="resolved") | (~Q(decided_by="") & ~Q(decided_why="")),
                name="resolved_record_says_why",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_on", "id"), name="in_record_review", condition=Q(status="review")
            ),
            models.Index(
                fields=("due_on", "id"), name="in_record_late", condition=Q(may_dishonor=True)
            ),
            models.Index(fields=("id",), name="in_record_new", condition=Q(status="new")),
            models.Index(
                fields=("original_trace",),
                name="in_record_trace",
                condition=~Q(original_trace=""),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            RECORD_STATES.trigger("in_record_moves"),
            pgtrigger.ReadOnly(
                name="in_record_never_changes",
                fields=(
                    "file",
                    "rail",
                    "line",
                    "kind",
                    "rdfi_trace",
                    "rdfi_routing",
                    "settlement_day",
                    "original_trace",
                    "code",
                    "reason_code",
                    "amount",
                    "company_id",
                    "account_fingerprint",
                    "account_last4",
                    "information",
                    "received_at",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.code}".strip() + f", line {self.line}"

    # The row gets its id after its token: its place in the file names it as well.
    @property
    def encryption_context(self) -> str:
        return f"ach.in_record:{self.file_id}:{self.line}"
