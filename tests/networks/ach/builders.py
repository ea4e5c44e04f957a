"""A bank, companies that originate, and instructions for it."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

from common.ids import new
from networks.ach import building, freezing
from networks.ach.models import AchEntry, AchRail, Originator, OutFile, RailLine, RailVersion
from networks.ach.network import AchNetwork
from networks.ach.states import VersionStatus
from networks.ach.terms import Cutoff, RailTerms
from networks.base import (
    AccountType,
    Authorization,
    BankAccount,
    HolderType,
    Instruction,
    Method,
    Purpose,
    Speed,
)
from tests.networks.ach import witnessed

RAIL = "first_bank"
BANK = AchNetwork(RAIL)
# A Tuesday, 12:00 in New York, two hours before a cut-off.
NOON = datetime(2026, 11, 24, 17, 0, tzinfo=UTC)
AGREED = NOON - timedelta(days=30)  # on the terms of its bank
CUTOFF = NOON + timedelta(hours=2)
FREEZE = CUTOFF - timedelta(minutes=15)
TERMS: dict[str, Any] = {
    "odfi_routing": "099900001",
    "immediate_destination": " 099900001",
    "immediate_destination_name": "FIRST SANDBOX BANK",
    "immediate_origin": "1234567890",
    "immediate_origin_name": "BALLAST",
    "company_id": "1234567890",
    "company_name": "BALLAST",
    "descriptions": {"topup": "TOPUP", "payment": "PAYMENT"},
    "cutoffs": (
        Cutoff(at=time(10, 0), same_day=True),
        Cutoff(at=time(14, 0), same_day=True),
        Cutoff(at=time(19, 45)),
    ),
    "active": True,
}


def make_rail(name: str = RAIL, *, offset_account: str = "", **terms) -> RailVersion:
    rail, _ = AchRail.objects.get_or_create(name=name, defaults={"created_at": NOON})
    heard(name)
    former = RailVersion.objects.filter(rail=rail)
    former.filter(status=VersionStatus.CURRENT).update(
        status=VersionStatus.SUPERSEDED, superseded_at=AGREED
    )
    version = RailVersion(
        rail=rail,
        number=former.count() + 1,
        terms=RailTerms(**{**TERMS, **terms}).as_json(),
        status=VersionStatus.PROPOSED,
        proposed_by="ada@ballast.example",
        proposed_at=AGREED,
        reason="The agreement says so",
    )
    if offset_account:
        from common import crypto

        version.offset_account_token = crypto.encrypt(
            offset_account, context=version.encryption_context
        )
    version.save()
    RailVersion.objects.filter(pk=version.pk).update(
        status=VersionStatus.CURRENT, decided_by="bob@ballast.example", decided_at=AGREED
    )
    version.refresh_from_db()
    witnessed.agreed(version)
    return version


def heard(rail: str, until: datetime | None = datetime(2100, 1, 1, tzinfo=UTC)) -> None:
    """Whatever the bank had for us until then was fetched."""
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    values = {"fetched_at": until, "next_attempt_at": long_ago}
    RailLine.objects.update_or_create(pk=rail, defaults=values)


def make_originator(rail: str = RAIL, tenant_id: str = "", **columns) -> Originator:
    return Originator.objects.create(
        rail_id=rail,
        tenant_id=tenant_id,
        company_name=columns.pop("company_name", "BALLAST"),
        company_id=columns.pop("company_id", "1234567890"),
        created_at=NOON,
        **columns,
    )


def account(number: str = "1000200", **columns) -> BankAccount:
    return BankAccount(
        routing_number=columns.pop("routing_number", "011000015"),
        account_number=number,
        holder_name=columns.pop("holder_name", "Acme Łódź GmbH"),
        holder_type=columns.pop("holder_type", HolderType.BUSINESS),
        account_type=columns.pop("account_type", AccountType.CHECKING),
    )


def instruction(**columns) -> Instruction:
    """A debit of a business for its balance, of 12.34."""
    return Instruction(
        id=columns.pop("id", None) or new("ftx"),
        method=columns.pop("method", Method.ACH_DEBIT),
        amount=columns.pop("amount", 1_234),
        account=columns.pop("account", None) or account(),
        purpose=columns.pop("purpose", Purpose.TOPUP),
        tenant_id=columns.pop("tenant_id", "ten_acme"),
        authorization=columns.pop("authorization", Authorization.CORPORATE),
        speed=columns.pop("speed", Speed.STANDARD),
        **columns,
    )


def take(*instructions: Instruction, now: datetime = NOON) -> list[AchEntry]:
    """Entries that wait, one for each instruction."""
    answers = BANK.submit_many(instructions, now=now)
    refused = [answer for answer in answers.values() if isinstance(answer, Exception)]
    assert refused == []
    return [AchEntry.objects.get(instruction_id=each.id) for each in instructions]


def take_some(count: int, now: datetime = NOON, **columns) -> list[AchEntry]:
    return take(*(instruction(**columns) for _ in range(count)), now=now)


def the_file() -> OutFile:
    """The only file that was not taken apart."""
    return OutFile.objects.exclude(status="withdrawn").get()


def make_files(count: int = 3, *, now: datetime = FREEZE, **columns) -> list[OutFile]:
    """Files of as many new debits, frozen and built."""
    take_some(count, now=NOON, **columns)
    files = freezing.freeze_due(RAIL, now=now)
    for file_id in files:
        assert building.build(file_id, now=now)
    return list(OutFile.objects.filter(pk__in=files).order_by("created_at", "pk"))
