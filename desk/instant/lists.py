"""The lists of conversations and of messages with a fault, each a bounded number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import Http404, QueryDict

from common import ids
from common.days import start_of
from common.ids import is_id
from dashboard.shell import paging
from dashboard.shell.paging import Page
from desk.instant import words
from networks.instant import reviewing
from networks.instant.models import Conversation, InstantRail, Message
from networks.instant.states import ConversationKind, ConversationStatus, MessageStatus

SHOWN = 50
# Conversations that one page looks through for those that are asked for, by their ids: what is
# rare costs no more than what is frequent.
LOOKED_THROUGH = 5_000
_PREFIX = "inc"
_ASKED_MAX = 64


@dataclass(frozen=True)
class Filters:
    """What of all conversations is asked for; empty is everything."""

    rail: str = ""
    kind: str = ""
    status: str = ""
    day: date | None = None
    is_open: bool = False
    text: str = ""

    @classmethod
    def of(cls, asked: QueryDict) -> Filters:
        """Raises Http404 for what no list has."""
        kind, status, day = (asked.get(name, "") for name in ("kind", "status", "day"))
        if kind not in ["", *ConversationKind.values]:
            raise Http404
        if status not in ["", *ConversationStatus.values]:
            raise Http404
        rail = asked.get("rail", "")
        return cls(
            rail=_plain(rail),
            kind=kind,
            status=status,
            day=_day(day),
            is_open=asked.get("review") == "open",
            text=_plain(asked.get("q", "").strip()),
        )

    @property
    def query(self) -> str:
        """As an address has it."""
        values = {
            "rail": self.rail,
            "kind": self.kind,
            "status": self.status,
            "day": self.day.isoformat() if self.day else "",
            "review": "open" if self.is_open else "",
            "q": self.text,
        }
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def narrows(self) -> bool:
        return bool(self.rail or self.kind or self.status)


@dataclass(frozen=True)
class ConversationLine:
    """One conversation of a list."""

    row: Conversation
    tone: str
    review: str


@dataclass(frozen=True)
class ConversationList:
    """`looked_through` is how many conversations were, where the page is not full and there are
    more. `messages` are those that the search named and that belong to no conversation."""

    page: Page
    lines: Sequence[ConversationLine]
    looked_through: int = 0
    messages: Sequence[Message] = ()


def conversations(
    asked: Filters, *, before: str, size: int = SHOWN, most: int = LOOKED_THROUGH
) -> ConversationList:
    """One page of `size`, the newest first; of all `most` are looked through. Three queries at
    most. Raises Http404."""
    if asked.text:
        return _searched(asked)
    if asked.is_open:
        rows = _narrowed(reviewing.conversations(), asked)
        order = partial(paging.page, keys=("review_since", "id"), size=size)
        return _listed(order(rows, before=before, unfiltered=Conversation.objects.all()))
    return _looked_through(asked, before, size, most)


def _looked_through(asked: Filters, before: str, size: int, most: int) -> ConversationList:
    """Rows follow each other by their ids, which sort by time."""
    if before and not is_id(before, _PREFIX):
        raise Http404
    span = Conversation.objects.order_by("-pk")
    if asked.day:
        since = start_of(asked.day)
        until = start_of(asked.day + timedelta(days=1))
        span = span.filter(pk__gte=ids.lowest(_PREFIX, since), pk__lt=ids.lowest(_PREFIX, until))
    if before:
        span = span.filter(pk__lt=before)
    rows: QuerySet[Conversation] = span
    if asked.narrows:
        rows = _narrowed(Conversation.objects.order_by("-pk"), asked).filter(
            pk__in=span.values("pk")[:most]
        )
    found = list(rows[: size + 1])
    if len(found) > size:
        shown = found[:size]
        return _listed(Page(shown, older=shown[-1].pk, is_newest=not before))
    last = _end_of(span, most) if asked.narrows else ""
    page = Page(found, older=last, is_newest=not before)
    return _listed(page, looked_through=most if last else 0)


def _end_of(span: QuerySet[Conversation], most: int) -> str:
    """The last that was looked at, if there are more behind it."""
    pair = list(span.values_list("pk", flat=True)[most - 1 : most + 1])
    return pair[0] if len(pair) == 2 else ""


def _narrowed(rows: QuerySet[Conversation], asked: Filters) -> QuerySet[Conversation]:
    wanted = {"rail_id": asked.rail, "kind": asked.kind, "status": asked.status}
    return rows.filter(**{name: value for name, value in wanted.items() if value})


def _searched(asked: Filters) -> ConversationList:
    """By an id of whatever kind. Two queries, each by indexes."""
    named = Message.objects.filter(message_id=asked.text).order_by("-pk")
    messages = list(named.defer("content_token")[:SHOWN])
    of_messages = {row.conversation_id for row in messages if row.conversation_id}
    is_meant = Q(instruction_id=asked.text) | Q(end_to_end_id=asked.text)
    rows = Conversation.objects.filter(is_meant | Q(pk__in=[asked.text, *of_messages]))
    found = list(rows.order_by("-pk")[:SHOWN])
    stray = [row for row in messages if not row.conversation_id]
    return _listed(Page(found, older="", is_newest=True), messages=stray)


def _listed(page: Page, **more: Any) -> ConversationList:
    lines = [
        ConversationLine(row, words.TONES[row.status], words.review(row.review_code))
        if is_open(row)
        else ConversationLine(row, words.TONES[row.status], "")
        for row in page.rows
    ]
    return ConversationList(page, lines, **more)


def is_open(row: Conversation) -> bool:
    """Whether a person has to look at it."""
    since = row.review_since
    return since is not None and (row.resolved_at is None or row.resolved_at < since)


def rails() -> list[str]:
    """All instant rails, of which there are few. One query."""
    return list(InstantRail.objects.order_by("name").values_list("name", flat=True))


# --- Messages with a fault


@dataclass(frozen=True)
class MessageLine:
    row: Message
    name: str
    fault: str


def faulty(*, which: str, before: str) -> tuple[Page, list[MessageLine]]:
    """Messages with a fault that nobody has looked at, or `all` that there were. Raises Http404."""
    if which not in _WHICH:
        raise Http404
    if before and not (before.isascii() and before.isdecimal() and len(before) <= 18):
        raise Http404
    rows, keys = _WHICH[which]
    chosen = rows().defer("content_token")
    page = paging.page(
        chosen, before=before, keys=keys, size=SHOWN, unfiltered=Message.objects.all()
    )
    return page, [MessageLine(row, words.name(row), words.fault(row)) for row in page.rows]


def _ever_faulty() -> QuerySet[Message]:
    return Message.objects.filter(status=MessageStatus.FAULTY)


_WHICH: Mapping[str, tuple[Any, Sequence[str]]] = {
    "": (reviewing.messages, ("id",)),
    "all": (_ever_faulty, ("created_at", "id")),
}


def _plain(text: str) -> str:
    if "\0" in text:
        raise Http404
    return text[:_ASKED_MAX]


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
    if not 2000 <= day.year < 2100:
        raise Http404
    return day
