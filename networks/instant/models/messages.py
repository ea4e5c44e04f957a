"""Every message both ways, as it was written, one row each."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import Q

from common import crypto
from common.database.append_only import NEVER_TRUNCATED
from common.leases import Leased
from networks import columns
from networks.instant.models.conversations import ISO_ID_LENGTH_MAX, Conversation
from networks.instant.models.rails import InstantRail
from networks.instant.states import MESSAGE_STATES, Direction, MessageStatus

_OUT = ("to_send", "sent", "silent", "not_taken", "answered")
_IN = ("received", "applied", "faulty")


class Message(Leased):
    """One message. Its number is part of the message ids that we make.

    `related` is the message that it answers or asks about. `said` is what a status report or
    answer says: the status, and the reason. Of a message from us, `attempts` counts the times that
    handing it over was begun, so one of 0 has surely not left, and it is due (`next_attempt_at`)
    while it is to be sent, or an answer is missing. Of a message to us, `copies` counts how often
    it came again, and one with a fault changed nothing, until a person has looked at it
    (`resolved_at`). An unreadable one has no `message_id`, and one that reuses the id of another
    message has the fault `id_reused`.
    """

    # Of a tenant are those of its conversations.
    wall: ClassVar = (
        "EXISTS (SELECT FROM instant_conversation AS conversation"
        " WHERE conversation.id = instant_message.conversation_id)"
    )

    id = models.BigAutoField(primary_key=True)
    rail = models.ForeignKey(
        InstantRail, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, null=True, blank=True, related_name="messages"
    )
    direction = models.CharField(max_length=3, choices=Direction)
    name = models.CharField(max_length=16, blank=True)  # pacs.008, pain.013 …
    message_id = models.CharField(max_length=ISO_ID_LENGTH_MAX, blank=True)
    related = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="answers"
    )
    said = models.CharField(max_length=40, blank=True)
    content_token = models.TextField(editable=False)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    status = models.CharField(max_length=9, choices=MessageStatus)
    fault = models.CharField(max_length=40, blank=True)
    fault_detail = models.CharField(max_length=200, blank=True)
    copies = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    sent_at = columns.moment()
    answered_at = columns.moment()
    applied_at = columns.moment()
    resolved_by = models.CharField(max_length=columns.STAFF_LENGTH_MAX, blank=True, db_default="")
    resolved_at = columns.moment()
    resolution = models.CharField(max_length=columns.REASON_LENGTH_MAX, blank=True, db_default="")

    class Meta:
        verbose_name = "message"
        constraints = (
            columns.one_of("direction", Direction, "instant_message_direction_known"),
            models.CheckConstraint(
                condition=Q(direction="out", status__in=_OUT) | Q(direction="in", status__in=_IN),
                name="instant_message_status_fits",
            ),
            models.CheckConstraint(
                condition=Q(direction="in") | (~Q(message_id="") & ~Q(name="")),
                name="instant_message_of_ours_has_an_id",
            ),
            models.CheckConstraint(
                condition=Q(status="faulty") & ~Q(fault="")
                | ~Q(status="faulty") & (Q(fault="") | Q(direction="out")),
                name="instant_message_fault_says_why",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at=None, resolved_by="", resolution="")
                | (
                    Q(status="faulty", resolved_at__isnull=False)
                    & ~Q(resolved_by="")
                    & ~Q(resolution="")
                ),
                name="instant_message_resolved_says_why",
            ),
            models.UniqueConstraint(
                fields=("message_id", "rail", "direction"),
                condition=~Q(message_id="") & ~Q(fault="id_reused"),
                name="one_message_per_id",
            ),
            models.UniqueConstraint(
                fields=("rail", "sha256"),
                condition=Q(direction="in") & (Q(message_id="") | Q(fault="id_reused")),
                name="one_stray_message_per_content",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",), name="instant_message_due", condition=Leased.QUEUED
            ),
            models.Index(
                fields=("rail", "id"), name="instant_message_new", condition=Q(status="received")
            ),
            models.Index(
                fields=("created_at", "id"),
                name="instant_message_faulty",
                condition=Q(status="faulty"),
            ),
            models.Index(
                fields=("id",),
                name="instant_message_unresolved",
                condition=Q(status="faulty", resolved_at=None),
            ),
            models.Index(
                fields=("message_id",),
                name="instant_message_by_id",
                condition=~Q(message_id=""),
            ),
            models.Index(fields=("created_at",), name="instant_message_age"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            MESSAGE_STATES.trigger("instant_message_moves"),
            pgtrigger.ReadOnly(
                name="instant_message_never_changes",
                fields=(
                    "rail",
                    "direction",
                    "name",
                    "message_id",
                    "sha256",
                    "size",
                    "created_at",
                ),
            ),
        )

    def __str__(self) -> str:
        way = "to" if self.direction == Direction.OUT else "from"
        return f"{self.name or 'unreadable message'} {way} {self.rail_id}"

    # Of the content, not of the row, so that the token can be made before the row has its id.
    @staticmethod
    def context_of(direction: str, sha256: str) -> str:
        return f"instant.message:{direction}:{sha256}"

    @property
    def encryption_context(self) -> str:
        return self.context_of(self.direction, self.sha256)

    @property
    def content(self) -> bytes:
        """The exact bytes. Raises common.crypto.Undecryptable."""
        text = crypto.decrypt(self.content_token, context=self.encryption_context)
        return text.encode("latin-1")
