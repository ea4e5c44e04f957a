"""What other banks asked us to give back (camt.056), and what two people decided about it."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import format_cents
from networks import columns
from networks.instant.models.conversations import Conversation
from networks.instant.models.messages import Message
from networks.instant.models.rails import InstantRail
from networks.instant.states import ASK_STATES, AskStatus


class ReturnAsk(models.Model):
    """One request for the return of funds, about one credit transfer to us. Cents.

    `gives_back` is what the first person proposed, and the second one agreed to.
    """

    id = PrefixedIdField("ira")
    rail = models.ForeignKey(
        InstantRail, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    message = models.OneToOneField(Message, on_delete=models.PROTECT, related_name="return_ask")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="return_asks"
    )
    case_id = models.CharField(max_length=35, blank=True)
    code = models.CharField(max_length=16, blank=True)
    information = models.CharField(max_length=140, blank=True)
    amount = models.BigIntegerField()
    status = models.CharField(max_length=10, choices=AskStatus)
    gives_back = models.BooleanField(null=True, blank=True)
    reason_code = models.CharField(max_length=4, blank=True)
    created_at = models.DateTimeField()
    proposed_by = columns.staff()
    proposed_at = columns.moment()
    proposed_why = columns.reason()
    decided_by = columns.staff()
    decided_at = columns.moment()

    class Meta:
        verbose_name = "request for a return of funds"
        verbose_name_plural = "requests for a return of funds"
        permissions = (
            ("propose_returnask", "Can propose what to answer to requests for a return of funds"),
            ("approve_returnask", "Can approve answers that others propose"),
        )
        constraints = (
            columns.one_of("status", AskStatus, "return_ask_status_known"),
            models.CheckConstraint(
                condition=Q(status="open", gives_back=None, proposed_by="")
                | (
                    ~Q(status="open")
                    & Q(gives_back__isnull=False, proposed_at__isnull=False)
                    & ~Q(proposed_by="")
                    & ~Q(proposed_why="")
                ),
                name="return_ask_proposed_says_why",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("refused", "given_back"))
                | (
                    Q(decided_at__isnull=False)
                    & ~Q(decided_by="")
                    & ~Q(decided_by=F("proposed_by"))
                ),
                name="return_ask_decided_by_another",
            ),
        )
        indexes = (
            models.Index(
                fields=("created_at", "id"),
                name="return_ask_open",
                condition=Q(status__in=("open", "proposed")),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            ASK_STATES.trigger("return_ask_moves"),
            pgtrigger.ReadOnly(
                name="return_ask_never_changes",
                fields=(
                    "rail",
                    "message",
                    "conversation",
                    "case_id",
                    "code",
                    "information",
                    "amount",
                    "created_at",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"return of {format_cents(self.amount)} asked for"

    @property
    def proposal(self) -> str:
        """What names the answer that is proposed now; empty where none is."""
        return self.proposed_at.isoformat() if self.proposed_at else ""
