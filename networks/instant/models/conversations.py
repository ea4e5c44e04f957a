"""One instruction of ours, or one credit transfer to us, in the words of an instant network."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q

from common import crypto
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import format_cents
from networks import columns
from networks.instant.models.position_triggers import COUNTS_CHANGED, COUNTS_NEW
from networks.instant.models.rails import InstantRail
from networks.instant.states import (
    CONVERSATION_STATES,
    KINDS_OF,
    OPEN_REQUEST,
    ConversationKind,
    ConversationStatus,
)
from networks.instant.terms import AMOUNT_MAX

ISO_ID_LENGTH_MAX = 35
NAME_LENGTH_MAX = 140
# What was agreed at the beginning, which never changes. The account's encryption may.
TERMS = (
    "rail",
    "kind",
    "instruction_id",
    "end_to_end_id",
    "tenant_id",
    "amount",
    "routing_number",
    "account_fingerprint",
    "account_last4",
    "name",
    "description",
    "expires_at",
    "original",
    "mismatch",
    "reference",
    "terms_digest",
    "created_at",
)


class Conversation(models.Model):
    """What is said about one movement of money. Cents.

    `instruction_id` is empty for a credit transfer to us, and `original` is what such a credit
    pays or gives back, or the credit that we give back. `mismatch` says in a word why a credit
    does not do that, although it seems to, or what it lacks. The account is the other side's.
    `reference` is what to quote to the network. `attempts` counts the messages that order the
    money, of which one at most is not rejected. `waits_for` says in a word why it was not sent
    yet. What a person has to look at has a `review_code` since `review_since`, until it is
    resolved later than that. `advised_at`: the network said that a credit to us settled.
    """

    id = PrefixedIdField("inc")
    rail = models.ForeignKey(
        InstantRail, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=9, choices=ConversationKind)
    instruction_id = models.CharField(max_length=columns.INSTRUCTION_LENGTH_MAX, blank=True)
    end_to_end_id = models.CharField(max_length=ISO_ID_LENGTH_MAX)
    tenant_id = models.CharField(max_length=columns.TENANT_LENGTH_MAX, blank=True)
    amount = models.BigIntegerField()
    routing_number = models.CharField(max_length=11)
    account_token = models.TextField(editable=False)
    account_fingerprint = models.CharField(max_length=64, editable=False)
    account_last4 = models.CharField(max_length=4)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    description = models.CharField(max_length=140, blank=True)
    expires_at = columns.moment()
    original = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="followers",
        db_index=False,
    )
    mismatch = models.CharField(max_length=32, blank=True)
    reference = models.CharField(max_length=36, blank=True)
    terms_digest = models.CharField(max_length=64, blank=True, editable=False)
    status = models.CharField(max_length=11, choices=ConversationStatus)
    code = models.CharField(max_length=16, blank=True)
    reason = columns.reason()
    waits_for = models.CharField(max_length=32, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    settlement_date = models.DateField(null=True, blank=True)
    created_at = models.DateTimeField()
    sent_at = columns.moment()
    accepted_at = columns.moment()
    advised_at = columns.moment()
    settled_at = columns.moment()
    final_due_at = columns.moment()
    ended_at = columns.moment()
    review_code = models.CharField(max_length=32, blank=True)
    review_since = columns.moment()
    resolved_by = columns.staff()
    resolved_at = columns.moment()
    resolution = columns.reason()

    class Meta:
        verbose_name = "conversation"
        constraints = (
            columns.one_of("kind", ConversationKind, "instant_conversation_kind_known"),
            models.CheckConstraint(
                condition=Q(
                    *(
                        Q(status=status.value, kind__in=[kind.value for kind in kinds])
                        for status, kinds in KINDS_OF.items()
                    ),
                    _connector=Q.OR,
                ),
                name="instant_conversation_status_fits",
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX)
                | Q(kind="credit", amount__gte=1),
                name="instant_conversation_amount_in_range",
            ),
            models.CheckConstraint(
                condition=Q(kind="credit", instruction_id="")
                | (~Q(kind="credit") & ~Q(instruction_id="")),
                name="instant_conversation_instructed",
            ),
            models.CheckConstraint(
                condition=Q(kind="request", expires_at__isnull=False)
                | (~Q(kind="request") & Q(expires_at=None)),
                name="instant_conversation_expires",
            ),
            models.CheckConstraint(
                condition=Q(waits_for="") | Q(status="waiting"),
                name="instant_conversation_waits_for_why",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("settled", "coming_back")) & ~Q(status="final")
                | Q(settled_at__isnull=False, settlement_date__isnull=False),
                name="instant_conversation_settled_is_dated",
            ),
            models.CheckConstraint(
                condition=Q(review_code="", review_since=None)
                | (~Q(review_code="") & Q(review_since__isnull=False)),
                name="instant_conversation_review_says_why",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at=None)
                | (Q(review_since__isnull=False) & ~Q(resolved_by="") & ~Q(resolution="")),
                name="instant_conversation_resolved_says_why",
            ),
            models.UniqueConstraint(
                fields=("instruction_id",),
                condition=~Q(instruction_id=""),
                name="one_conversation_per_instruction",
            ),
        )
        indexes = (
            models.Index(
                fields=("rail", "created_at"),
                name="instant_waiting",
                condition=Q(status="waiting"),
            ),
            models.Index(
                fields=("rail",),
                name="instant_ordered",
                condition=Q(status="sent", kind__in=("payment", "give_back")),
            ),
            models.Index(
                fields=("rail", "expires_at"),
                name="instant_expiring",
                condition=Q(kind="request", status__in=OPEN_REQUEST),
            ),
            models.Index(
                fields=("final_due_at",), name="instant_final_due", condition=Q(status="settled")
            ),
            models.Index(
                fields=("created_at",), name="instant_answering", condition=Q(status="answering")
            ),
            models.Index(fields=("end_to_end_id",), name="instant_end_to_end"),
            models.Index(
                fields=("original",), name="instant_followers", condition=~Q(original=None)
            ),
            models.Index(
                fields=("review_since", "id"),
                name="instant_review",
                condition=Q(review_since__isnull=False)
                & (Q(resolved_at=None) | Q(resolved_at__lt=F("review_since"))),
            ),
            BrinIndex(fields=("created_at",), name="instant_conversation_age"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            CONVERSATION_STATES.trigger("instant_conversation_moves"),
            pgtrigger.ReadOnly(name="instant_conversation_terms_never_change", fields=TERMS),
            COUNTS_NEW,
            COUNTS_CHANGED,
        )

    def __str__(self) -> str:
        status = self.get_status_display().lower()
        return f"{self.get_kind_display()} of {format_cents(self.amount)}: {status}"

    @property
    def encryption_context(self) -> str:
        return self.context_of(self.pk)

    @staticmethod
    def context_of(conversation_id: str) -> str:
        return f"instant.conversation.account:{conversation_id}"

    @property
    def account_number(self) -> str:
        """Raises common.crypto.Undecryptable."""
        return crypto.decrypt(self.account_token, context=self.encryption_context)
