"""The messages of all payment networks, whichever app they are for."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Case, F, Q, Value, When

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX, format_cents
from networks.base import EVENT_CODE_LENGTH, EventKind

NOTE_LENGTH_MAX = 300
# What a message says; the other columns say what became of it.
AS_IT_CAME = (
    "network",
    "event_id",
    "instruction_id",
    "kind",
    "amount",
    "currency",
    "code",
    "reason",
    "reference",
    "occurred_at",
    "received_at",
    "original",
    "digest",
    "by_hand",
    "settlement_date",
    "trace_number",
)


class InboundOutcome(models.TextChoices):
    """What became of a message: `new` waits, `review` needs a person, who makes it `resolved`."""

    NEW = "new"
    APPLIED = "applied"
    REVIEW = "review", "To settle"
    RESOLVED = "resolved"


# What a message says. Before `final` was a word of its own, "settled" stood for it, without a date.
MEANING = Case(When(kind="settled", settlement_date=None, then=Value("final")), default=F("kind"))


class InboundEvent(models.Model):
    """A message of a payment network, stored before it is applied. Unique per network and id.

    The numeric key is the order of arrival, in which the messages of one instruction are applied.
    `next_attempt_at` is set while it is `new`; `attempts` counts how often applying it failed.
    `original` is the whole message, if it did not fit the columns. `digest` covers all that it
    says: the same id with another digest is another message. `refused_in` is the status of the row
    because of which it was put aside; once the row has moved, it is judged again. `by_hand` is set
    if two people made it and no network did (`HandSettlement`); it is the second of them.
    `settlement_date` is the banking day on which money moved, and `trace_number` the trace that an
    ACH entry got.
    """

    id = models.BigAutoField(primary_key=True)
    network = models.CharField(max_length=16)
    event_id = models.CharField(max_length=64)
    instruction_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=24)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    code = models.CharField(max_length=EVENT_CODE_LENGTH, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField()
    outcome = models.CharField(max_length=8, choices=InboundOutcome, default=InboundOutcome.NEW)
    note = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    original = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True, db_default="", editable=False)
    by_hand = models.CharField(max_length=254, blank=True, db_default="", editable=False)
    settlement_date = models.DateField(null=True, blank=True, editable=False)
    trace_number = models.CharField(max_length=15, blank=True, db_default="", editable=False)
    refused_in = models.CharField(max_length=32, blank=True, db_default="", editable=False)
    resolution = models.CharField(max_length=NOTE_LENGTH_MAX, blank=True)
    resolved_by = models.CharField(max_length=254, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    answer_due_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="when its network is to be told what became of it, if it waits for that",
    )

    QUEUED = Q(next_attempt_at__isnull=False)

    class Meta:
        verbose_name = "network message"
        constraints = (
            models.UniqueConstraint(fields=("network", "event_id"), name="one_row_per_message"),
            models.CheckConstraint(
                condition=Q(outcome="new", next_attempt_at__isnull=False)
                | (~Q(outcome="new") & Q(next_attempt_at=None)),
                name="new_messages_are_due",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="resolved")
                | (Q(resolved_at__isnull=False) & ~Q(resolution="")),
                name="resolved_messages_say_why",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at", "id"),
                name="inbound_new",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(fields=("-id",), name="inbound_review", condition=Q(outcome="review")),
            models.Index(
                fields=("next_attempt_at", "id"),
                name="inbound_corrected",
                condition=Q(kind="corrected"),
            ),
            models.Index(
                fields=("answer_due_at", "id"),
                name="inbound_to_answer",
                condition=Q(answer_due_at__isnull=False),
            ),
            models.Index(fields=("instruction_id", "id"), name="inbound_by_instruction"),
        )
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="message_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="message_never_changes", fields=AS_IT_CAME),
        )

    def __str__(self) -> str:
        said, when = self.kind.replace("_", " "), days.when(self.received_at)
        return f"{said}, said by {self.network}, {when}"

    @property
    def says(self) -> str:
        """An `EventKind`, or an unknown word: `MEANING` of this row."""
        is_older = self.kind == EventKind.SETTLED and self.settlement_date is None
        return EventKind.FINAL if is_older else self.kind


class BankOutcome(models.TextChoices):
    """What a bank tells a person that became of a transfer."""

    SETTLED = "settled"
    REJECTED = "rejected"
    RETURNED = "returned"

    @property
    def event_kind(self) -> EventKind:
        """The kind of the message that the network would have sent."""
        return EventKind.FINAL if self == BankOutcome.SETTLED else EventKind(self)


class SettlementDecision(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


class HandSettlement(models.Model):
    """What a bank says became of a transfer whose message never came. One member of staff proposes
    it and another one decides. Cents. `event` is the message that an approval made."""

    id = PrefixedIdField("hst")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    subject_id = models.CharField("funding or payment", max_length=64)
    kind = models.CharField("what the bank says", max_length=16, choices=BankOutcome)
    amount = models.BigIntegerField()
    bank_reference = models.CharField(max_length=64)
    code = models.CharField(max_length=8, blank=True, help_text="of a rejection or a return: R01 …")
    reason = models.CharField(max_length=NOTE_LENGTH_MAX, help_text="for staff only")
    proposed_by = models.ForeignKey("tenants.User", on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    decision = models.CharField(
        max_length=8, choices=SettlementDecision, default=SettlementDecision.OPEN
    )
    decided_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_note = models.CharField(max_length=NOTE_LENGTH_MAX, blank=True)
    event = models.OneToOneField(
        InboundEvent, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = "settlement by hand"
        verbose_name_plural = "settlements by hand"
        permissions = (
            ("propose_settlement", "Can propose to settle by hand"),
            ("approve_settlement", "Can approve or reject settlements that others propose"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX),
                name="settlement_amount_in_range",
            ),
            models.CheckConstraint(
                condition=~Q(bank_reference="") & ~Q(reason=""), name="settlement_says_why"
            ),
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None, decided_by=None)
                | Q(
                    decision__in=("approved", "rejected"),
                    decided_at__isnull=False,
                    decided_by__isnull=False,
                ),
                name="settlement_decided_iff_dated",
            ),
            models.CheckConstraint(
                condition=Q(decision="approved", event__isnull=False)
                | (~Q(decision="approved") & Q(event=None)),
                name="settlement_applied_iff_approved",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")),
                name="settlement_decided_by_another",
            ),
            models.UniqueConstraint(
                fields=("subject_id",),
                condition=Q(decision="open"),
                name="one_open_settlement_per_row",
            ),
        )
        indexes = (
            models.Index(
                fields=("proposed_at",), name="settlement_open", condition=Q(decision="open")
            ),
            models.Index(fields=("tenant", "proposed_at"), name="settlement_by_tenant"),
            models.Index(fields=("subject_id",), name="settlement_by_row"),
        )
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="settlement_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="settlement_terms_never_change",
                fields=(
                    "tenant",
                    "subject_id",
                    "kind",
                    "amount",
                    "bank_reference",
                    "code",
                    "reason",
                    "proposed_by",
                    "proposed_at",
                ),
            ),
            pgtrigger.Protect(
                name="settlement_decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.decision <> 'open'"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {format_cents(self.amount)}, {days.when(self.proposed_at)}"


class ReturnDishonor(models.Model):
    """A return of a funding or payment that our bank did not accept, and the money of that. Cents.

    `dishonored` and `contested` are the messages about it, in whatever order they came. `due_at` is
    set while the other bank may contest and the tenant's balance waits for that; `counted_at` is
    when the balance got what the dishonor moved. `transfers.dishonors` writes all of it.
    """

    id = PrefixedIdField("rdh")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    subject_id = models.CharField("funding or payment", max_length=64, db_collation="C")
    direction = models.CharField(max_length=3, choices=(("in", "Money in"), ("out", "Money out")))
    network = models.CharField(max_length=16)
    amount = models.BigIntegerField()
    dishonored = models.OneToOneField(
        InboundEvent, on_delete=models.PROTECT, null=True, related_name="+"
    )
    contested = models.OneToOneField(
        InboundEvent, on_delete=models.PROTECT, null=True, related_name="+"
    )
    due_at = models.DateTimeField(null=True)
    counted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        verbose_name = "dishonored return"
        constraints = (
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX),
                name="dishonor_amount_in_range",
            ),
            models.CheckConstraint(
                condition=Q(
                    due_at__isnull=False,
                    dishonored__isnull=False,
                    contested=None,
                    counted_at=None,
                )
                | (Q(due_at=None) & (Q(contested__isnull=False) | Q(counted_at__isnull=False))),
                name="dishonor_due_until_it_ends",
            ),
            models.CheckConstraint(
                condition=Q(counted_at=None) | Q(dishonored__isnull=False),
                name="dishonor_counted_once_told",
            ),
        )
        indexes = (
            models.Index(fields=("subject_id", "id"), name="dishonor_by_row"),
            models.Index(
                fields=("due_at",), name="dishonor_due", condition=Q(due_at__isnull=False)
            ),
            models.Index(fields=("changed_at",), name="dishonor_changed"),
        )
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="dishonor_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="dishonor_terms_never_change",
                fields=("tenant", "subject_id", "direction", "network", "amount", "created_at"),
            ),
            pgtrigger.Protect(
                name="dishonor_told_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.dishonored_id <> NEW.dishonored_id"
                    " OR OLD.dishonored_id IS NOT NULL AND NEW.dishonored_id IS NULL"
                    " OR OLD.contested_id <> NEW.contested_id"
                    " OR OLD.contested_id IS NOT NULL AND NEW.contested_id IS NULL"
                    " OR OLD.counted_at <> NEW.counted_at"
                    " OR OLD.counted_at IS NOT NULL AND NEW.counted_at IS NULL"
                ),
            ),
        )

    def __str__(self) -> str:
        return f"return of {format_cents(self.amount)} dishonored, {days.when(self.created_at)}"
