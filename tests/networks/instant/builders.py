"""An instant rail over a folder, and instructions for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from common import crypto
from common.ids import new
from networks.base import (
    AccountType,
    BankAccount,
    HolderType,
    Instruction,
    Method,
    Purpose,
)
from networks.instant.models import Conversation, InstantRail, InstantVersion
from networks.instant.position import POSITION
from networks.instant.states import ConversationKind, ConversationStatus, VersionStatus
from networks.instant.terms import Connection, RailTerms, TransportKind
from tests.networks.ach import witnessed

RAIL = "fednow_one"
ROUTING, ACCOUNT = "124000313", "4000323456"
PAYEE_ROUTING = "011000015"
AGREED = datetime(2026, 10, 1, tzinfo=UTC)
PARTICIPANTS = {"rtp": f"{ROUTING}T1", "fednow": ROUTING}


def make_rail(
    folder: Path | str = "/nonexistent",
    *,
    name: str = RAIL,
    profile: str = "fednow",
    account_number: str = ACCOUNT,
    **terms: Any,
) -> InstantVersion:
    """A rail whose terms are in force, by default over a folder."""
    rail, _ = InstantRail.objects.get_or_create(
        name=name, defaults={"profile": profile, "created_at": AGREED}
    )
    former = InstantVersion.objects.filter(rail=rail)
    former.filter(status=VersionStatus.CURRENT).update(
        status=VersionStatus.SUPERSEDED, superseded_at=AGREED
    )
    over_folder = Connection(kind=TransportKind.FOLDER, folder=str(folder))
    values = {
        "participant": PARTICIPANTS[profile],
        "routing_number": ROUTING,
        "creditor_name": "Ballast Inc.",
        "connection": over_folder,
        "active": True,
    }
    version = InstantVersion(
        rail=rail,
        number=former.count() + 1,
        terms=RailTerms(**{**values, **terms}).as_json(),
        status=VersionStatus.PROPOSED,
        proposed_by="ada@ballast.example",
        proposed_at=AGREED,
        reason="The agreement says so",
    )
    version.account_token = crypto.encrypt(account_number, context=version.encryption_context)
    version.save()
    InstantVersion.objects.filter(pk=version.pk).update(
        status=VersionStatus.CURRENT, decided_by="bob@ballast.example", decided_at=AGREED
    )
    version.refresh_from_db()
    witnessed.agreed(version)
    return version


def waiting(told: Instruction, now: datetime) -> Conversation:
    """A payment that waits for money at the network."""
    conversation_id = new("inc")
    number = told.account.account_number
    return Conversation.objects.create(
        id=conversation_id,
        rail_id=RAIL,
        kind=ConversationKind.PAYMENT,
        instruction_id=told.id,
        end_to_end_id=told.id,
        amount=told.amount,
        routing_number=told.account.routing_number,
        account_token=crypto.encrypt(number, context=Conversation.context_of(conversation_id)),
        account_fingerprint="0" * 64,
        account_last4=number[-4:],
        name="Acme",
        reference="20261129R0000000000000000000000001",
        status=ConversationStatus.WAITING,
        waits_for=POSITION,
        created_at=now,
    )


def account(number: str = "1000200", **columns: Any) -> BankAccount:
    return BankAccount(
        routing_number=columns.pop("routing_number", PAYEE_ROUTING),
        account_number=number,
        holder_name=columns.pop("holder_name", "Acme Łódź GmbH"),
        holder_type=columns.pop("holder_type", HolderType.BUSINESS),
        account_type=columns.pop("account_type", AccountType.CHECKING),
    )


def payment(**columns: Any) -> Instruction:
    """A credit transfer of 12.34 to somebody."""
    return Instruction(
        id=columns.pop("id", None) or new("pay"),
        method=columns.pop("method", Method.RTP_CREDIT),
        amount=columns.pop("amount", 1_234),
        account=columns.pop("account", None) or account(),
        purpose=columns.pop("purpose", Purpose.PAYMENT),
        tenant_id=columns.pop("tenant_id", "ten_acme"),
        **columns,
    )


def request(now: datetime, **columns: Any) -> Instruction:
    """A request for 12.34 that lapses in an hour."""
    return payment(
        id=columns.pop("id", None) or new("ftx"),
        method=Method.RTP_REQUEST,
        purpose=Purpose.TOPUP,
        expires_at=columns.pop("expires_at", now + timedelta(hours=1)),
        **columns,
    )
