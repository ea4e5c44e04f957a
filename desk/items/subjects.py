"""What can be worked on: where each kind of item is found, its page, and who may open that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db.models import Model
from django.urls import reverse

from common.errors import NotFound
from desk.models import ItemKind
from funding.models import FundingTransaction
from networks.ach.models import (
    AchProposal,
    AchRail,
    AchReversal,
    InFile,
    InRecord,
    Originator,
    OutFile,
    SpokenAnswer,
)
from networks.instant.models import Conversation, Message, ReturnAsk
from payments.models import Payment
from transfers.inbox.models import HandSettlement, InboundEvent

_RECORDS, _FILES = "ach.view_inrecord", "ach.view_outfile"


class Subject(NamedTuple):
    """An item, as notes and assignments name it."""

    kind: ItemKind
    id: str


@dataclass(frozen=True)
class _Kind:
    """`page` is the address's name of the item's page, `powers` what opens it. `named_by` are the
    fields of the row that the address holds."""

    model: type[Model]
    page: str
    powers: tuple[str, ...]
    named_by: tuple[str, ...] = ("pk",)


_KINDS: Mapping[ItemKind, _Kind] = MappingProxyType(
    {
        ItemKind.RECORD: _Kind(InRecord, "desk:exception_record", (_RECORDS,)),
        ItemKind.BANK_FILE: _Kind(InFile, "desk:exception_file", (_RECORDS,)),
        ItemKind.FILE: _Kind(OutFile, "desk:file", (_FILES,)),
        ItemKind.ANSWER: _Kind(SpokenAnswer, "desk:answer", (_FILES, "ach.release_outfile")),
        ItemKind.REVERSAL: _Kind(
            AchReversal, "desk:reversal", ("ach.view_achentry", "ach.approve_achreversal")
        ),
        ItemKind.PROPOSAL: _Kind(AchProposal, "desk:proposal", ("ach.release_outfile",)),
        ItemKind.ORIGINATOR: _Kind(
            Originator,
            "desk:originator_debits",
            (_RECORDS, "ach.change_originator"),
            ("rail_id", "pk"),
        ),
        ItemKind.RAIL: _Kind(AchRail, "desk:rail", ("ach.view_achrail",)),
        ItemKind.FUNDING: _Kind(
            FundingTransaction, "desk:funding", ("funding.view_fundingtransaction",)
        ),
        ItemKind.PAYMENT: _Kind(Payment, "desk:payment", ("payments.view_payment",)),
        ItemKind.MESSAGE: _Kind(
            InboundEvent,
            "admin:network_inbox_inboundevent_change",
            ("network_inbox.view_inboundevent",),
        ),
        ItemKind.SETTLEMENT: _Kind(
            HandSettlement,
            "admin:network_inbox_handsettlement_change",
            ("network_inbox.view_handsettlement",),
        ),
        ItemKind.CONVERSATION: _Kind(
            Conversation,
            "desk:conversation",
            ("instant.view_conversation", "instant.view_message"),
        ),
        ItemKind.INSTANT_MESSAGE: _Kind(Message, "desk:instant_message", ("instant.view_message",)),
        ItemKind.RETURN_ASK: _Kind(ReturnAsk, "desk:return_ask", ("instant.view_returnask",)),
    }
)


@dataclass(frozen=True)
class Item:
    """A subject that exists. `href` leads to its page."""

    subject: Subject
    href: str

    @property
    def words(self) -> str:
        """`payment pay_01…`."""
        return f"{self.subject.kind.label} {self.subject.id}"


def powers(kind: ItemKind) -> tuple[str, ...]:
    """What somebody needs to open the page of such an item."""
    return _KINDS[kind].powers


def kind_of(name: str) -> ItemKind:
    """The kind by its name in addresses. Raises NotFound."""
    if name not in ItemKind.values:
        raise NotFound("There is no such kind of item.")
    return ItemKind(name)


def subject_of(row: Model) -> Subject:
    """The row as an item."""
    kind = next(kind for kind, its in _KINDS.items() if isinstance(row, its.model))
    return Subject(kind, str(row.pk))


def found(subject: Subject) -> Item:
    """One query. Raises NotFound."""
    kind = _KINDS[subject.kind]
    row = _row(kind, subject.id)
    if row is None:
        raise NotFound("There is no such item.")
    return Item(subject, reverse(kind.page, args=list(row)))


def _row(kind: _Kind, pk: str) -> tuple[Any, ...] | None:
    """The fields that name the row."""
    is_numbered = kind.model._meta.pk.get_internal_type() == "BigAutoField"
    if "\0" in pk or (is_numbered and not _is_number(pk)):
        return None
    rows = kind.model._default_manager.filter(pk=pk)
    return rows.values_list(*kind.named_by).first()


def _is_number(text: str) -> bool:
    """Whether it is one that a row can have, in the one spelling that is stored."""
    return text.isascii() and text.isdecimal() and text == str(int(text)) and int(text) < 2**63
