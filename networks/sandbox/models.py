"""The sandbox bank's own books: what it was told to do, and what it will say about it."""

from __future__ import annotations

from types import MappingProxyType

from django.db import models
from django.db.models import Q

from common import days
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.money import format_cents
from networks.base import EventKind, Method

ODFI_PREFIX = "09990000"  # the first eight digits of First Sandbox Bank's routing number
TRACE_SEQUENCES = 10**7

METHODS = [method.value for method in Method]
# What it can say.
KINDS = [
    kind.value
    for kind in (
        EventKind.ACCEPTED,
        EventKind.SETTLED,  # FORMERLY_FINAL
        EventKind.FINAL,
        EventKind.REJECTED,
        EventKind.RETURNED,
        EventKind.CORRECTED,
    )
]
# Before "final" was a word of its own, this stood for it; processes of that release still write it.
FORMERLY_FINAL = EventKind.SETTLED
# What happened, in a tenant's words: here money that arrived is final.
WORDS = MappingProxyType({kind: str(kind) for kind in EventKind} | {EventKind.FINAL: "settled"})


class SandboxInstruction(models.Model):
    """One instruction, recorded at its first arrival and posted to the account at most once."""

    number = models.BigAutoField(primary_key=True)
    # The bank's name: each of several sandbox banks has its own instructions.
    network = models.CharField(max_length=16, db_default="sandbox")
    external_id = models.CharField(max_length=64, db_collation="C")
    method = models.CharField(max_length=16, choices=[(value, value) for value in METHODS])
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    terms_digest = models.CharField(max_length=64)
    submissions = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("external_id", "network"), name="one_sandbox_instruction_a_bank"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="sandbox_amount_positive"),
            models.CheckConstraint(condition=Q(method__in=METHODS), name="sandbox_method_known"),
        )

    def __str__(self) -> str:
        method = self.method.replace("_", " ")
        return f"{method} of {format_cents(self.amount)}, {days.when(self.created_at)}"

    @property
    def reference(self) -> str:
        return f"SBX{self.number:012d}"

    @property
    def trace_number(self) -> str:
        """ODFI and sequence, as ACH has it; RTP has none."""
        if not Method(self.method).is_ach:
            return ""
        return f"{ODFI_PREFIX}{self.number % TRACE_SEQUENCES:07d}"


class SandboxEvent(models.Model):
    """Something the bank says about an instruction once `due_at` has come."""

    id = PrefixedIdField("sbe")
    instruction = models.ForeignKey(
        SandboxInstruction, on_delete=models.PROTECT, related_name="events", db_index=False
    )
    sequence = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=20, choices=[(value, value) for value in KINDS])
    code = models.CharField(max_length=16, blank=True)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    due_at = models.DateTimeField()
    acknowledged = models.BooleanField(default=False)

    app_rights = Rights(delete=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("instruction", "sequence"), name="one_sandbox_event_per_sequence"
            ),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="sandbox_event_kind_known"),
        )
        indexes = (
            models.Index(
                fields=("due_at", "instruction", "sequence"),
                name="sandbox_event_to_tell",
                condition=Q(acknowledged=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.said}, due {days.when(self.due_at)}"

    @property
    def said(self) -> str:
        """What the bank says, with its code: `returned R01`."""
        return f"{WORDS[self.says]} {self.code}".strip().replace("_", " ")

    @property
    def says(self) -> EventKind:
        """What `kind` means, whichever release wrote it."""
        return EventKind.FINAL if self.kind == FORMERLY_FINAL else EventKind(self.kind)
