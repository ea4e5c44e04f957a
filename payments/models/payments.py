"""Attempts to send money out of the balance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX, CURRENCY, format_cents
from payments.models.recipients import Recipient
from payments.states import COLUMN_OF, OPEN, PAYMENT_STATES, UNSENT, PaymentStatus
from tenants.models import ActorType
from transfers.rows import TransferRow, has_a_reason, held_first, known_speed, speed_field, to_send

DESCRIPTION_LENGTH_MAX = 140
# `recipient:` and a fingerprint, or another word and an id.
SCOPE_LENGTH_MAX = 120
# The ledger's name for a payment as the source of a posting.
SOURCE_TYPE = "payment"


class PaymentMethod(models.TextChoices):
    """What people call each way to pay, staff and tenants alike."""

    ACH_CREDIT = "ach_credit", "ACH transfer"
    RTP = "rtp", "Instant payment (RTP)"


# What is asked for where the method is left to us (decision 0221).
AUTO = "auto"


def _dated(status: PaymentStatus, column: str) -> models.CheckConstraint:
    """A constraint: a row in `status` has a time in `column`, which says when it got there."""
    return models.CheckConstraint(
        condition=~Q(status=status) | Q(**{f"{column}__isnull": False}),
        name=f"payment_{status}_is_dated",
    )


# What names no try, or one that the payment does not leave behind.
_REQUIRE_REFUSED_TRY = """
IF OLD.is_automatic AND OLD.held_at IS NULL AND OLD.settlement_date IS NULL
    AND OLD.status IN ('created', 'processing') AND NEW.status = 'created'
    AND NEW.tries = OLD.tries + 1
    AND NEW.method <> OLD.method AND NEW.network <> OLD.network AND EXISTS (
        SELECT FROM payments_paymentattempt AS refused
        WHERE refused.payment_id = NEW.id AND refused.number = OLD.tries
            AND refused.method = OLD.method AND refused.network = OLD.network
    )
THEN RETURN NEW; END IF;
RAISE EXCEPTION 'payment % goes no other way without a refused try', NEW.id;
"""
_REQUIRE_APPROVAL = """
IF NOT EXISTS (
    SELECT FROM payments_paymentconfirmation
    WHERE payment_id = NEW.id AND decision = 'approved'
        AND (NEW.second_look_at IS NULL OR created_at >= NEW.second_look_at)
) THEN
    RAISE EXCEPTION 'payment % is confirmed without an approval', NEW.id;
END IF;
RETURN NEW;
"""


@pgtrigger.register(NEVER_TRUNCATED)
class Payment(TransferRow):
    """One attempt to send money out. Amounts are cents.

    `next_attempt_at` is set while the payment has to be handed to its network. A held payment
    (`held_at`) keeps its status until staff release it, and one that requires approval until
    `confirmed_at` is set. So does one that was ordered by somebody who left since, or by a key that
    was revoked since (`second_look_at`). A payment that was due while available was negative is
    held back (`held_back_at`) and is due again once there is money.
    """

    id = PrefixedIdField("pay")
    # The database refers to both at once (`payment_goes_to_own_recipient`): the recipient is of
    # this tenant.
    tenant = models.ForeignKey(
        "tenants.Tenant",
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    recipient = models.ForeignKey(Recipient, on_delete=models.PROTECT, db_constraint=False)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, default=CURRENCY)
    status = models.CharField(max_length=17, choices=PaymentStatus)
    method = models.CharField(max_length=10, choices=PaymentMethod)
    speed = speed_field()
    created_by_type = models.CharField(max_length=8, choices=ActorType)
    created_by_id = models.CharField(max_length=254, blank=True)
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, blank=True)
    metadata = models.JSONField(default=dict)
    waits_until = models.DateTimeField(
        null=True, blank=True, help_text="when a payment that may wait for money gives up"
    )
    requires_confirmation = models.BooleanField(default=False)
    confirmation_expires_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    second_look_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text=(
            "since when it needs approval, because whoever ordered it left or its key was revoked"
        ),
    )
    held_back_at = models.DateTimeField(
        null=True, blank=True, help_text="since when it is not sent, because available is negative"
    )
    expected_arrival_date = models.DateField(null=True, blank=True)
    waiting_for_funds_at = models.DateTimeField(null=True, blank=True)
    locked_at = models.DateTimeField(null=True, blank=True)
    processing_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    canceled_at = models.DateTimeField(null=True, blank=True)
    failure_code = models.CharField(max_length=40, blank=True)
    failure_message = models.CharField(max_length=300, blank=True)
    returned = models.BooleanField(default=False)
    return_code = models.CharField(max_length=8, blank=True)
    return_reason = models.CharField(max_length=300, blank=True)
    is_automatic = models.BooleanField(
        default=False,
        db_default=False,
        help_text="whether the method was left to us: `method` is the one in use",
    )
    tries = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        editable=False,
        help_text="by how many methods it was tried; the refused ones are rows of their own",
    )
    network = models.CharField(max_length=16)
    network_reference = models.CharField(max_length=64, blank=True)
    trace_number = models.CharField(max_length=64, blank=True)
    counted_for = ArrayField(
        models.CharField(max_length=SCOPE_LENGTH_MAX),
        default=list,
        db_default=[],
        editable=False,
        help_text="the scopes of the totals in which it is counted from `created_at` on",
    )
    history_length = models.PositiveIntegerField(default=0)
    event_sequence = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    # Ids of the balance transactions that were posted through this object since it was read.
    new_posting_ids: Sequence[str] = ()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX), name="payment_amount_in_range"
            ),
            models.CheckConstraint(
                condition=Q(status__in=PaymentStatus.values), name="payment_status_known"
            ),
            models.CheckConstraint(
                condition=Q(method__in=PaymentMethod.values), name="payment_method_known"
            ),
            models.CheckConstraint(
                condition=Q(returned=False, returned_at=None)
                | Q(returned=True, returned_at__isnull=False, status__in=("failed", "returned")),
                name="returned_payment_is_over",
            ),
            models.CheckConstraint(
                condition=~Q(status="returned") | Q(completed_at__isnull=False),
                name="returned_payment_was_completed",
            ),
            models.CheckConstraint(
                condition=Q(waiting_for_funds_at=None) | Q(waits_until__isnull=False),
                name="waiting_payment_has_an_end",
            ),
            models.CheckConstraint(
                condition=Q(next_attempt_at=None) | Q(status="created"),
                name="only_created_payments_are_due",
            ),
            models.CheckConstraint(
                condition=Q(held_back_at=None) | Q(status="created", next_attempt_at=None),
                name="held_back_payments_are_not_due",
            ),
            models.CheckConstraint(
                condition=Q(requires_confirmation=False, second_look_at=None)
                | Q(confirmed_at__isnull=False)
                | Q(next_attempt_at=None, status__in=UNSENT),
                name="payment_sent_only_when_confirmed",
            ),
            models.CheckConstraint(
                condition=Q(requires_confirmation=True, confirmation_expires_at__isnull=False)
                | Q(second_look_at__isnull=False, confirmation_expires_at__isnull=False)
                | Q(
                    requires_confirmation=False,
                    second_look_at__isnull=True,
                    confirmation_expires_at__isnull=True,
                    confirmed_at__isnull=True,
                ),
                name="payment_confirmation_has_an_end",
            ),
            has_a_reason("payment_hold_has_a_reason"),
            known_speed("payment_speed_known"),
            *(_dated(status, column) for status, column in COLUMN_OF.items()),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="payment_by_tenant"),
            models.Index(
                fields=("tenant", "status", "-created_at", "-id"), name="payment_by_status"
            ),
            # What people search for. Ids sort by time; staff ask without a tenant.
            models.Index(fields=("amount", "tenant", "id"), name="payment_by_amount"),
            to_send("payment_to_send"),
            models.Index(
                fields=("tenant", "created_at", "id"),
                name="payment_queue",
                condition=Q(status="waiting_for_funds"),
            ),
            models.Index(
                fields=("waits_until",),
                name="payment_wait_ends",
                condition=Q(status="waiting_for_funds"),
            ),
            held_first("payment_held"),
            models.Index(
                fields=("tenant", "id"),
                include=("amount",),
                name="payment_held_back",
                condition=Q(held_back_at__isnull=False),
            ),
            models.Index(
                fields=("tenant",),
                include=("amount",),
                name="payment_open",
                condition=Q(status__in=OPEN),
            ),
            BrinIndex(fields=("processing_at",), name="payment_sent"),
            models.Index(
                fields=("trace_number",), name="payment_trace", condition=~Q(trace_number="")
            ),
            models.Index(
                Coalesce("returned_at", "failed_at"),
                name="payment_failures",
                condition=Q(status__in=("failed", "returned")),
            ),
        )
        triggers = (
            PAYMENT_STATES.trigger("payment_moves"),
            pgtrigger.Protect(name="payment_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="payment_terms_never_change",
                fields=(
                    "tenant",
                    "recipient",
                    "amount",
                    "currency",
                    "is_automatic",
                    "speed",
                    "requires_confirmation",
                    "counted_for",
                ),
            ),
            pgtrigger.Trigger(
                name="goes_another_way_once_refused",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.status = 'processing' AND NEW.status = 'created'"
                    " OR (OLD.method, OLD.network, OLD.tries)"
                    " IS DISTINCT FROM (NEW.method, NEW.network, NEW.tries)"
                ),
                func=_REQUIRE_REFUSED_TRY,
            ),
            # Whoever may write these columns still lets no payment go by them (decision 0196).
            pgtrigger.Trigger(
                name="confirmed_by_an_approval",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("confirmed_at"),
                condition=pgtrigger.Condition(
                    "NEW.confirmed_at IS NOT NULL"
                    " AND NEW.confirmed_at IS DISTINCT FROM OLD.confirmed_at"
                ),
                func=_REQUIRE_APPROVAL,
            ),
            pgtrigger.Protect(
                name="second_look_stays",
                operation=pgtrigger.UpdateOf("second_look_at"),
                condition=pgtrigger.Condition(
                    "OLD.second_look_at IS NOT NULL"
                    " AND (NEW.second_look_at IS NULL OR NEW.second_look_at < OLD.second_look_at)"
                ),
            ),
        )

    def __str__(self) -> str:
        method, when = PaymentMethod(self.method).label, days.when(self.created_at)
        return f"{format_cents(self.amount)} by {method}, {self.standing}, {when}"

    @property
    def standing(self) -> str:
        """Its status in words, or what keeps it from being sent."""
        if self.awaits_confirmation:
            return "needs approval"
        if self.held_at and self.is_unsent:
            return "on hold"
        return "held back" if self.held_back_at else PaymentStatus(self.status).label.lower()

    @property
    def balance_transaction_ids(self) -> list[str]:
        """The ids of its balance transactions in order of posting. Earlier ones are known only to
        rows of `selectors.payments`."""
        return [*getattr(self, "known_posting_ids", ()), *self.new_posting_ids]

    @property
    def method_asked(self) -> str:
        """What was asked for: a method, or to choose one."""
        return AUTO if self.is_automatic else str(self.method)

    @property
    def was_tried(self) -> bool:
        """Whether it was handed, or may have been handed, to the network of its method in use."""
        return self.attempts > 0 or self.processing_at is not None

    @property
    def needs_approval(self) -> bool:
        """Whether it may be sent only once a second person approved it: from the beginning, or
        because whoever ordered it left since, or its key was revoked."""
        return self.requires_confirmation or self.second_look_at is not None

    @property
    def awaits_confirmation(self) -> bool:
        """Whether people are asked for approval before it may be sent."""
        is_open = self.status in (PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED)
        return self.needs_approval and self.confirmed_at is None and is_open

    @property
    def is_going(self) -> bool:
        """Whether it only needs time to arrive: no approval, hold or missing money stops it."""
        is_stopped = self.awaits_confirmation or self.held_at or self.held_back_at
        is_next = self.status == PaymentStatus.CREATED and not is_stopped
        return is_next or self.status == PaymentStatus.PROCESSING

    @property
    def promised_date(self) -> date | None:
        """When it is expected, or was expected before it arrived; None while or once it is not
        expected."""
        is_promised = self.is_going or self.completed_at is not None
        return self.expected_arrival_date if is_promised else None

    @property
    def is_unsent(self) -> bool:
        """Whether no network has it: it waits for money, or was never claimed for submission by
        the method in use."""
        is_waiting = self.status == PaymentStatus.WAITING_FOR_FUNDS
        return is_waiting or (self.status == PaymentStatus.CREATED and self.attempts == 0)


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class PaymentAttempt(models.Model):
    """One way that an automatic payment went before its network refused it: no money moved.
    Append-only. The way in use is in the payment's own row."""

    id = PrefixedIdField("pat")
    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="refused_tries", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    method = models.CharField(max_length=10, choices=PaymentMethod)
    network = models.CharField(max_length=16)
    network_reference = models.CharField(max_length=64, blank=True)
    code = models.CharField(max_length=40, help_text="what the network said")
    reason = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(
        null=True, blank=True, help_text="when the network took it over; null if it never did"
    )
    ended_at = models.DateTimeField(help_text="when we heard that the network refuses it")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("payment", "number"), name="one_payment_try_a_number"),
            models.CheckConstraint(condition=~Q(code=""), name="payment_try_has_a_code"),
        )
        indexes = (models.Index(fields=("ended_at",), name="payment_try_age"),)

    def __str__(self) -> str:
        return f"{PaymentMethod(self.method).label}, refused {days.when(self.ended_at)}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class PaymentEvent(models.Model):
    """One change of status: who, when, why. Append-only."""

    id = PrefixedIdField("pev")
    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="history", db_index=False
    )
    sequence = models.PositiveIntegerField()
    from_status = models.CharField(max_length=17, blank=True)
    to_status = models.CharField(max_length=17, choices=PaymentStatus)
    actor_type = models.CharField(max_length=8, choices=ActorType)
    actor_id = models.CharField(max_length=254, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    network_reference = models.CharField(max_length=64, blank=True)
    account_id = models.CharField(
        max_length=32, blank=True, db_default="", help_text="the recipient it goes to"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("payment", "sequence"), name="one_payment_row_a_step"),
        )
        indexes = (models.Index(fields=("created_at",), name="payment_event_age"),)

    def __str__(self) -> str:
        return f"{PaymentStatus(self.to_status).label}, {days.when(self.created_at)}"
