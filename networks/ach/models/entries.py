"""One transfer of money, as the bank is told of it."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from common import crypto
from common.database.append_only import NEVER_TRUNCATED
from common.money import format_cents
from networks.ach.models import columns
from networks.ach.models.files import AchBatch
from networks.ach.models.originators import Originator
from networks.ach.models.rails import AchRail
from networks.ach.states import ENTRY_STATES, EXPOSED, EntryStatus
from networks.ach.terms import ENTRY_AMOUNT_MAX
from networks.base import Purpose, Speed

PRENOTE = "prenote"  # of our own: nobody instructs it
_PURPOSES = [*(purpose.value for purpose in Purpose), PRENOTE]
_SPEEDS = [speed.value for speed in Speed]
# What an entry says of itself, which never changes. The account's encryption may.
TERMS = (
    "instruction_id",
    "rail",
    "originator",
    "tenant_id",
    "purpose",
    "is_debit",
    "sec",
    "payment_type",
    "transaction_code",
    "routing_number",
    "account_fingerprint",
    "account_last4",
    "name",
    "individual_id",
    "company_name",
    "company_id",
    "description",
    "amount",
    "speed",
    "original",
    "replaces",
    "first_number",
    "terms_digest",
    "created_at",
)


def reference_of(number: int) -> str:
    """What an instruction is called whose first entry has this id."""
    return f"ACH{number:012d}"


class AchEntry(models.Model):
    """An instruction in the words of ACH. Cents.

    An entry whose file or batch the bank refused is `requeued`, and another one takes its place
    (`replaces`). `waits_for` says in a word why a waiting entry was left out of the last file.
    `promised_on` is the banking day of settlement that we last told. `final_due_at` is when an
    accepted entry becomes final unless it comes back. `missed` counts the cut-offs that went by
    while it lay in a file that nobody released. `first_number` is the id of the first entry of the
    instruction, where this is not the first. A prenote has no amount, and its `original` is the
    entry that asked for it.
    """

    id = models.BigAutoField(primary_key=True)
    instruction_id = models.CharField(max_length=columns.INSTRUCTION_LENGTH_MAX)
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    originator = models.ForeignKey(
        Originator, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    tenant_id = models.CharField(max_length=columns.TENANT_LENGTH_MAX, blank=True)
    purpose = models.CharField(max_length=12, choices=[(value, value) for value in _PURPOSES])
    is_debit = models.BooleanField()
    sec = columns.sec()
    payment_type = models.CharField(max_length=1, blank=True)
    transaction_code = models.PositiveSmallIntegerField()
    routing_number = models.CharField(max_length=9)
    account_token = models.TextField(editable=False)
    account_fingerprint = models.CharField(max_length=64, editable=False)
    account_last4 = models.CharField(max_length=4)
    name = models.CharField(max_length=22)
    individual_id = models.CharField(max_length=15, blank=True)
    company_name = models.CharField(max_length=16)
    company_id = models.CharField(max_length=10)
    description = models.CharField(max_length=10)
    amount = models.BigIntegerField()
    speed = models.CharField(max_length=8, choices=[(value, value) for value in _SPEEDS])
    same_day = models.BooleanField(default=False)
    effective_date = models.DateField(null=True, blank=True)
    promised_on = models.DateField(null=True, blank=True)
    settlement_date = models.DateField(null=True, blank=True)
    batch = models.ForeignKey(
        AchBatch,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="entries",
        db_index=False,
    )
    trace_number = models.CharField(max_length=15, blank=True)
    original = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="followers",
        db_index=False,
    )
    replaces = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="replaced_by"
    )
    first_number = models.BigIntegerField(null=True, blank=True, editable=False)
    terms_digest = models.CharField(max_length=64, editable=False)
    status = models.CharField(max_length=9, choices=EntryStatus)
    waits_for = models.CharField(max_length=32, blank=True)
    missed = models.PositiveSmallIntegerField(db_default=0)
    code = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField()
    frozen_at = columns.moment()
    sent_at = columns.moment()
    accepted_at = columns.moment()
    final_due_at = columns.moment()
    ended_at = columns.moment()

    class Meta:
        verbose_name = "entry"
        verbose_name_plural = "entries"
        constraints = (
            columns.one_of("status", EntryStatus, "ach_entry_status_known"),
            models.CheckConstraint(
                condition=Q(purpose__in=_PURPOSES), name="ach_entry_purpose_known"
            ),
            models.CheckConstraint(condition=Q(speed__in=_SPEEDS), name="ach_entry_speed_known"),
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=ENTRY_AMOUNT_MAX) & ~Q(purpose=PRENOTE)
                | Q(amount=0, purpose=PRENOTE),
                name="ach_entry_amount_in_range",
            ),
            models.CheckConstraint(
                condition=~Q(purpose=PRENOTE)
                & (
                    Q(is_debit=True, transaction_code__in=(27, 37))
                    | Q(is_debit=False, transaction_code__in=(22, 32))
                )
                | Q(purpose=PRENOTE)
                & (
                    Q(is_debit=True, transaction_code__in=(28, 38))
                    | Q(is_debit=False, transaction_code__in=(23, 33))
                ),
                name="ach_entry_code_fits_direction",
            ),
            models.CheckConstraint(
                condition=(
                    Q(sec="WEB", payment_type__in=("S", "R"))
                    & (Q(is_debit=True) | Q(purpose=Purpose.REVERSAL.value))
                )
                | Q(sec__in=("CCD", "PPD"), payment_type=""),
                name="ach_entry_class_fits",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=("waiting", "withdrawn"), batch=None, trace_number="", frozen_at=None
                )
                | (
                    ~Q(status__in=("waiting", "withdrawn"))
                    & Q(batch__isnull=False, frozen_at__isnull=False, effective_date__isnull=False)
                    & ~Q(trace_number="")
                ),
                name="ach_entry_in_a_file_iff_frozen",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("accepted", "final")) | Q(accepted_at__isnull=False),
                name="ach_entry_accepted_is_dated",
            ),
            models.CheckConstraint(
                condition=Q(waits_for="") | Q(status="waiting"), name="ach_entry_waits_for_why"
            ),
            models.UniqueConstraint(
                fields=("instruction_id",),
                condition=~Q(status="requeued"),
                name="one_live_entry",
            ),
        )
        indexes = (
            models.Index(
                fields=("rail", "id"), name="ach_entry_waiting", condition=Q(status="waiting")
            ),
            models.Index(
                fields=("rail", "waits_for"),
                name="ach_entry_left_out",
                condition=~Q(waits_for=""),
            ),
            models.Index(
                fields=("batch", "id"), name="ach_entry_batch", condition=Q(batch__isnull=False)
            ),
            models.Index(
                fields=("trace_number",),
                name="ach_entry_trace",
                condition=~Q(trace_number=""),
            ),
            models.Index(
                fields=("rail", "originator", "is_debit"),
                include=("amount",),
                name="ach_entry_exposed",
                condition=Q(status__in=EXPOSED),
            ),
            models.Index(
                fields=("instruction_id",),
                name="ach_entry_replaced",
                condition=Q(status="requeued"),
            ),
            models.Index(
                fields=("final_due_at",), name="ach_entry_final", condition=Q(status="accepted")
            ),
            models.Index(
                fields=("original",), name="ach_entry_followers", condition=~Q(original=None)
            ),
            # What was asked about an account.
            models.Index(
                fields=("account_fingerprint",),
                name="ach_entry_asked",
                condition=Q(purpose__in=(Purpose.VERIFICATION.value, PRENOTE)),
            ),
            # The rates of returns of an originator.
            models.Index(
                fields=("originator", "sent_at"),
                include=("status", "code"),
                name="ach_entry_rates",
                condition=Q(is_debit=True, sent_at__isnull=False),
            ),
            BrinIndex(fields=("created_at",), name="ach_entry_age"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            ENTRY_STATES.trigger("ach_entry_moves"),
            pgtrigger.ReadOnly(name="ach_entry_terms_never_change", fields=TERMS),
        )

    def __str__(self) -> str:
        kind, status = "debit" if self.is_debit else "credit", self.get_status_display().lower()
        return f"{kind} of {format_cents(self.amount)}, {status}"

    # Of the instruction, not of the row, so that the token can be made before the row has its id.
    # The entry that replaces another one has the same account.
    @staticmethod
    def context_of(instruction_id: str) -> str:
        return f"ach.entry.account:{instruction_id}"

    @property
    def encryption_context(self) -> str:
        return self.context_of(self.instruction_id)

    @property
    def account_number(self) -> str:
        """Raises common.crypto.Undecryptable."""
        return crypto.decrypt(self.account_token, context=self.encryption_context)

    @property
    def reference(self) -> str:
        """What we call the instruction: the same for every entry that stands for it."""
        return reference_of(self.first_number or self.pk)
