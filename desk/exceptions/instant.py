"""What a person has to decide of instant payments, among the exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet
from django.urls import reverse

from desk.exceptions.line import ExceptionLine
from desk.instant import asks as returns
from desk.instant import words
from desk.items.narrowing import Narrowing
from desk.items.subjects import Subject
from desk.models import ItemKind
from networks.instant import reviewing
from networks.instant.models import ReturnAsk
from networks.instant.states import AskStatus


def conversations(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    """Money that nobody asked for, and payments of which the network says nothing or contradicts
    itself."""
    waiting = reviewing.conversations().order_by("review_since", "pk")
    for row in only.of(ItemKind.CONVERSATION, waiting)[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.CONVERSATION, row.pk),
            title=f"{row.get_kind_display()}: {words.review(row.review_code)}",
            detail=words.other_side(row),
            amount=row.amount,
            rail=row.rail_id,
            href=reverse("desk:conversation", args=[row.pk]),
            to_do=words.review_to_do(row.review_code),
            since=row.review_since,
            due=None,
            now=now,
        )


def open_asks() -> QuerySet[ReturnAsk]:
    """Requests for a return of funds that nobody has answered."""
    return ReturnAsk.objects.filter(status__in=(AskStatus.OPEN, AskStatus.PROPOSED))


def asks(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    waiting = only.of(ItemKind.RETURN_ASK, open_asks().order_by("created_at", "pk"))
    for row in waiting.select_related("conversation")[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.RETURN_ASK, row.pk),
            title=f"Asked back: {returns.why(row)}",
            detail=words.other_side(row.conversation),
            amount=row.amount,
            rail=row.rail_id,
            href=reverse("desk:return_ask", args=[row.pk]),
            to_do=returns.to_do(row),
            since=row.created_at,
            due=None,
            now=now,
        )
