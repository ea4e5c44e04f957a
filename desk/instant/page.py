"""One conversation as the network and we know it: its money, its life, and every message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from common.errors import NotFound
from common.ids import is_id
from dashboard.shell import paging
from desk import doers
from desk.entries.page import meaning
from desk.instant import lists, words
from networks.instant.models import Conversation, InstantEvent, Message, ReturnAsk
from networks.instant.states import ConversationKind, ConversationStatus, Direction
from tenants import selectors

SHOWN = 50
_SUBJECTS = {
    "ftx": ("Funding", "desk:funding", "funding.view_fundingtransaction"),
    "pay": ("Payment", "desk:payment", "payments.view_payment"),
}
# What it waits for before it is sent.
_WAITS_FOR = {"position": "Waits until the rail's position covers it"}
_TOLD = {
    "accepted": "presented to the payer",
    "settled": "settled",
    "final": "final",
    "rejected": "rejected",
    "returned": "returned",
    "received": "money that nobody asked for",
}
S = ConversationStatus
_ENDS = {
    S.FINAL: "Final",
    S.REJECTED: "Rejected",
    S.EXPIRED: "Expired: nobody paid it in time",
    S.WITHDRAWN: "Withdrawn before it was sent",
    S.RETURNED: "Given back",
}


@dataclass(frozen=True)
class Link:
    """Where something that belongs to it is; `power` opens that page."""

    text: str
    href: str
    power: str


@dataclass(frozen=True)
class Moment:
    at: datetime
    what: str
    note: str = ""


@dataclass(frozen=True)
class MessageLine:
    """One message. `about` is the id of the one that it answers or asks about; `handed_over` is how
    often handing it over was begun."""

    row: Message
    name: str
    way: str
    tone: str
    said: str
    fault: str
    about: str

    @property
    def is_ours(self) -> bool:
        return self.row.direction == Direction.OUT


@dataclass(frozen=True)
class ConversationPage:
    """Everything the page shows. `after` is where its next messages begin, or None. `told` is None
    where nobody waits for news."""

    row: Conversation
    tone: str
    other_side: str
    code: str
    waits_for: str
    subject: Link | None
    tenant: str
    review: str
    to_do: str
    is_open: bool
    resolved_by: str
    moments: Sequence[Moment]
    told: Sequence[tuple[InstantEvent, str]] | None
    related: Sequence[Conversation]
    asks: Sequence[ReturnAsk]
    messages: Sequence[MessageLine]
    after: int | None


def found(conversation_id: str) -> Conversation:
    """Raises NotFound."""
    rows = Conversation.objects.select_related("original", "rail")
    row = rows.filter(pk=conversation_id).first() if is_id(conversation_id, "inc") else None
    if row is None:
        raise NotFound("There is no such conversation.")
    return row


def conversation_page(conversation_id: str, *, after: str) -> ConversationPage:
    """Some eight queries, however long it is. Raises NotFound, Http404."""
    row = found(conversation_id)
    is_open = lists.is_open(row)
    names = selectors.tenant_names([row.tenant_id] if row.tenant_id else [])
    messages, behind = _messages(row, after)
    return ConversationPage(
        row=row,
        tone=words.TONES[row.status],
        other_side=words.other_side(row),
        code=meaning(row.code),
        waits_for=_WAITS_FOR.get(row.waits_for, row.waits_for.replace("_", " ")),
        subject=subject_of(row.instruction_id),
        tenant=names.get(row.tenant_id, ""),
        review=words.review(row.review_code),
        to_do=words.review_to_do(row.review_code) if is_open else "",
        is_open=is_open,
        resolved_by=doers.names_of([row.resolved_by]).get(row.resolved_by, ""),
        moments=sorted(_moments(row), key=lambda moment: moment.at),
        told=_told(row),
        related=_related(row),
        asks=list(row.return_asks.order_by("created_at")[:SHOWN]),
        messages=messages,
        after=behind,
    )


def of_transfer(instruction_id: str) -> list[Conversation]:
    """The conversation about a funding or payment, and those that pay it or give it back. One query
    if there is none, else two."""
    row = Conversation.objects.filter(instruction_id=instruction_id).first()
    return [row, *_related(row)] if row else []


def _told(row: Conversation) -> list[tuple[InstantEvent, str]] | None:
    """A return of funds is our own: what is written of it, nobody takes."""
    if row.kind == ConversationKind.GIVE_BACK:
        return None
    events = InstantEvent.objects.filter(conversation=row).order_by("due_at", "pk")[:SHOWN]
    return [(event, _TOLD[event.kind]) for event in events]


def _messages(row: Conversation, after: str) -> tuple[list[MessageLine], int | None]:
    rows = row.messages.select_related("related").defer("content_token", "related__content_token")
    shown, behind = paging.behind(rows, after, key="pk", size=SHOWN)
    return [line_of(each) for each in shown], behind


def line_of(row: Message) -> MessageLine:
    """A message, read with what it is about."""
    return MessageLine(
        row=row,
        name=words.name(row),
        way=words.way(row),
        tone=words.MESSAGE_TONES[row.status],
        said=words.said(row),
        fault=words.fault(row),
        about=row.related.message_id if row.related else "",
    )


def _related(row: Conversation) -> list[Conversation]:
    """What it pays or gives back, and what pays it or gives it back, the oldest first."""
    followers = list(row.followers.order_by("pk")[:SHOWN])
    return [row.original, *followers] if row.original else followers


def subject_of(instruction_id: str) -> Link | None:
    """The funding or payment that it is about, or the request that a return of funds follows."""
    prefix = instruction_id.partition("_")[0]
    if prefix not in _SUBJECTS:
        return None
    text, page, power = _SUBJECTS[prefix]
    return Link(text, reverse(page, args=[instruction_id]), power)


def _moments(row: Conversation) -> Iterator[Moment]:
    day = f"On the network's day {row.settlement_date:%b %-d, %Y}" if row.settlement_date else ""
    steps = (
        (row.created_at, "Taken over" if row.instruction_id else "Came", ""),
        (row.sent_at, "Sent", ""),
        (row.accepted_at, "Presented to the payer", ""),
        (row.advised_at, "The network said that it settled", ""),
        (row.settled_at, "Settled", day),
        (row.final_due_at, "Final unless its bank refuses it before", ""),
        (row.ended_at, _ENDS.get(S(row.status), ""), meaning(row.code)),
        (row.expires_at, "Expires" if row.ended_at is None else "", ""),
        (row.review_since, "Put to a person", words.review(row.review_code)),
        (row.resolved_at, "Resolved", row.resolution),
    )
    for at, what, note in steps:
        if at is not None and what:
            yield Moment(at, what, note)
