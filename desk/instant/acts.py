"""What people do about conversations and messages, each with its line in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.instant import words
from networks.instant import redacting, reviewing
from networks.instant.models import Conversation, Message

RESOLVES = "instant.change_conversation"
RESOLVES_MESSAGES = "instant.change_message"
_DIGITS_MAX = 18  # of a number of 64 bits
# A message may hold the number of whoever pays, or of whoever is paid.
REVEALS = ("funding.reveal_source_number", "payments.reveal_recipient_number")


@transaction.atomic
def resolve(*, row: Conversation, seen: str, reason: str, doer: Doer, now: datetime) -> None:
    """Raises ReviewRefused."""
    reviewing.resolve(row.pk, seen=seen, why=reason, by=doer.name, now=now)
    details = {"rail": row.rail_id, "review": seen}
    doers.record(doer, "instant_payment.resolved", row.pk, now=now, note=reason, **details)


@transaction.atomic
def resolve_message(*, row: Message, reason: str, doer: Doer, now: datetime) -> None:
    """Raises ReviewRefused."""
    reviewing.resolve_message(row.pk, why=reason, by=doer.name, now=now)
    _record("resolved", row, doer, now, note=reason, fault=row.fault)


@transaction.atomic
def read(*, row: Message, doer: Doer, now: datetime) -> str:
    """The message with account numbers masked. Raises common.crypto.Undecryptable."""
    _record("read", row, doer, now)
    return redacting.masked(row.content, is_sound=not words.is_unreadable(row))


@transaction.atomic
def reveal(*, row: Message, reason: str, doer: Doer, now: datetime) -> str:
    """The message as it is. Raises common.crypto.Undecryptable."""
    _record("numbers_revealed", row, doer, now, note=reason)
    return redacting.in_full(row.content)


def found_message(message_id: str) -> Message:
    """By its number. Raises NotFound."""
    is_number = message_id.isascii() and message_id.isdecimal() and len(message_id) <= _DIGITS_MAX
    rows = Message.objects.select_related("related", "conversation")
    rows = rows.defer("content_token", "related__content_token")
    row = rows.filter(pk=int(message_id)).first() if is_number else None
    if row is None:
        raise NotFound("There is no such message.")
    return row


def _record(what: str, row: Message, doer: Doer, now: datetime, **said: str) -> None:
    about = {"rail": row.rail_id, "messageId": row.message_id, "sha256": row.sha256}
    doers.record(doer, f"instant_message.{what}", str(row.pk), now=now, **{**about, **said})
