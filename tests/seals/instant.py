"""An instant rail, with one of everything that is sealed of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from common import crypto, ids
from networks.instant.messages import sealed
from networks.instant.models import (
    Conversation,
    InstantKey,
    InstantRail,
    InstantVersion,
    Message,
    ParticipantList,
    PositionMove,
    ReturnAsk,
)
from networks.instant.states import (
    AskStatus,
    ConversationKind,
    ConversationStatus,
    Direction,
    MessageStatus,
    MoveStatus,
    VersionStatus,
)

RAIL = "instant_sealed"
ANN, BEN = "usr_ann", "usr_ben"


def keep(now: datetime) -> None:
    rail = InstantRail.objects.create(name=RAIL, profile="fednow", created_at=now)
    InstantVersion.objects.create(
        rail=rail,
        number=1,
        terms={},
        account_token=crypto.encrypt("1", context="instant.version:x"),
        status=VersionStatus.CURRENT,
        proposed_by=ANN,
        proposed_at=now,
        reason="The agreement says so",
        decided_by=BEN,
        decided_at=now,
    )
    InstantKey.objects.create(
        rail=rail,
        private_key_token="x",
        certificate="x",
        fingerprint="0" * 64,
        created_by=ANN,
        created_at=now,
        retired_by=BEN,
        retired_at=now + timedelta(minutes=1),
    )
    ParticipantList.objects.create(
        profile="fednow",
        banks=1,
        digest="0" * 64,
        reason="The daily one",
        imported_by=ANN,
        imported_at=now,
        replaced_at=now,
    )
    PositionMove.objects.create(
        rail=rail,
        amount=100,
        reason="Friday's payroll",
        status=MoveStatus.REJECTED,
        proposed_by=ANN,
        proposed_at=now,
        decided_by=BEN,
        decided_at=now,
        refusal="Not today",
    )
    credit = _credit(rail, now)
    ReturnAsk.objects.create(
        rail=rail,
        message=_message(rail, credit, now),
        conversation=credit,
        amount=100,
        status=AskStatus.REFUSED,
        gives_back=False,
        reason_code="CUST",
        created_at=now,
        proposed_by=ANN,
        proposed_at=now,
        proposed_why="It was owed",
        decided_by=BEN,
        decided_at=now,
    )


def _credit(rail: InstantRail, now: datetime) -> Conversation:
    return Conversation.objects.create(
        id=ids.new("inc"),
        rail=rail,
        kind=ConversationKind.CREDIT,
        end_to_end_id="E1",
        amount=100,
        routing_number="011000015",
        account_token="x",
        account_fingerprint="0" * 64,
        account_last4="0200",
        name="Acme",
        reference="M1",
        status=ConversationStatus.ANSWERING,
        created_at=now,
    )


def _message(rail: InstantRail, credit: Conversation, now: datetime) -> Message:
    return Message.objects.create(
        rail=rail,
        conversation=credit,
        direction=Direction.IN,
        name="camt.056",
        message_id="M2",
        status=MessageStatus.APPLIED,
        created_at=now,
        **sealed(b"<Message/>", Direction.IN),
    )
