"""A bank that takes files, with one of everything, on the last banking day before today."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.clock import utc_now
from networks import calendar
from networks.ach import (
    building,
    changing,
    freezing,
    key_slots,
    originating,
    proposing,
    rails,
    spoken,
    switches,
)
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import storing
from networks.ach.models import (
    AchEntry,
    AchReply,
    AchReversal,
    Correction,
    InFile,
    InRecord,
    OutFile,
)
from networks.ach.models.inbound import InFolder, RecordKind
from networks.ach.models.proposals import ProposalKind
from networks.ach.models.rails import RailPart
from networks.ach.models.replies import ReplyKind
from networks.ach.models.reversals import ReversalReason
from networks.ach.sending import send_next
from networks.ach.spoken import Said
from networks.ach.terms import RailTerms
from networks.rails.models import RailKind
from reconciliation import booking, clearing, closing, taking
from reconciliation.models import BankStatement, ClearingKind, TransitNote
from tenants.models import Tenant
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL, TERMS, take_some
from tests.networks.ach.folder import Folder
from tests.reconciliation import statements
from tests.seals import instant

ANN, BEN = "usr_ann", "usr_ben"


def keep(tenant: Tenant) -> None:
    """Rows of every kind that is sealed."""
    day = utc_now().astimezone(calendar.EASTERN).date() - timedelta(days=1)
    while not calendar.is_banking_day(day):
        day -= timedelta(days=1)
    noon = datetime.combine(day, time(12), tzinfo=calendar.EASTERN)
    _agree(noon)
    file = _send(tenant, noon)
    _answer(file, noon)
    _say(file, noon)
    _statement(noon)
    instant.keep(noon)


def _agree(now: datetime) -> None:
    """On terms, by two people; with keys, an originator, and a stop that is over."""
    changing.open_rail(name=RAIL, kind=RailKind.REAL, now=now)
    terms = RailTerms(**TERMS)
    version = changing.propose(rail=RAIL, terms=terms, by=ANN, reason="As agreed", now=now)
    changing.approve(version_id=version.pk, by=BEN, now=now)
    for _ in range(2):
        key_slots.make(rail=RAIL, by=ANN, now=now)
    key_slots.retire(rail=RAIL, by=BEN, now=now)
    company = originating.Company(company_name="BALLAST", company_id="1234567890")
    originating.assign(rail=RAIL, tenant_id="", company=company, now=now)
    why: dict[str, Any] = {"by": ANN, "reason": "They maintain it", "now": now}
    stopped = switches.engage(rail=RAIL, part=RailPart.READING, **why)
    switches.release(switch_id=stopped.pk, **why)
    assert rails.current(RAIL).pk == version.pk


def _send(tenant: Tenant, noon: datetime) -> OutFile:
    """Two entries in a file that the bank has."""
    take_some(2, now=noon, tenant_id=tenant.pk)
    freeze = noon + timedelta(hours=1, minutes=45)
    (file_id,) = freezing.freeze_due(RAIL, now=freeze)
    assert building.build(file_id, now=freeze)
    life.release(OutFile.objects.get(pk=file_id), freeze)
    with TemporaryDirectory() as place:
        assert send_next(RAIL, Folder(Path(place)), now=freeze) == file_id
    return OutFile.objects.get(pk=file_id)


def _answer(sent: OutFile, now: datetime) -> None:
    """A file came, with a correction; somebody refuses it, and an entry is to be reversed."""
    stored = storing.store(
        rail_id=RAIL, folder=InFolder.INBOUND, name="back.ach", content=[b"as it came"], now=now
    )
    file = InFile.objects.get(pk=stored.file.pk)
    entry = AchEntry.objects.filter(batch__file=sent).first()
    assert entry is not None
    record = InRecord.objects.create(
        file=file, rail_id=RAIL, line=3, kind=RecordKind.NOC, code="C01", received_at=now
    )
    about = {"record": record, "code": "C01", "due_on": now.date()}
    Correction.objects.create(entry=entry, created_at=now, **about)
    decided = {"decided_by": BEN, "decided_at": now}
    AchReply.objects.create(
        rail_id=RAIL, kind=ReplyKind.REFUSAL, decided_why="No such account", **about, **decided
    )
    reversal = AchReversal.objects.create(
        entry=entry,
        reason=ReversalReason.DUPLICATE,
        note="Sent twice",
        discovered_at=now,
        proposed_by=ANN,
        proposed_at=now,
    )
    AchReversal.objects.filter(pk=reversal.pk).update(status="rejected", **decided)


def _say(sent: OutFile, now: datetime) -> None:
    """Somebody wrote down what the bank says by telephone, which was not so."""
    said = Said(verdict=Verdict.ACCEPTED, said_by="Rosa")
    answer = spoken.propose(sent.pk, said=said, reason="No file came", by=ANN, now=now)
    spoken.reject(answer.pk, by=BEN, now=now)
    _ask(now)


def _statement(now: datetime) -> None:
    """A day of our account at the bank."""
    account = statements.in_force(rail=RAIL)
    file = statements.store(statements.bai2_of(statements.MONDAY, 5_000), rail=RAIL)
    taking.take(file, now=now)
    _close(account.statements.get(), now)


def _ask(now: datetime) -> None:
    """Somebody asked for a name of its own for a tenant, which was not agreed to."""
    company = originating.Company(company_name="OTHER", company_id="1234567890")
    proposal = proposing.propose(
        ProposalKind.ORIGINATOR,
        rail=RAIL,
        subject="",
        tenant_id="ten_other",
        company=company,
        reason="They asked",
        by=ANN,
        now=now,
    )
    proposing.reject(proposal.pk, by=BEN, now=now)


def _close(statement: BankStatement, now: datetime) -> None:
    """The day of a statement with one line, which two people called income."""
    by_ann: dict[str, Any] = {"by": ANN, "reason": "As the bank says", "now": now}
    booked = booking.to_suspense(statement.lines.get(), **by_ann)
    proposed = clearing.propose(booked, ClearingKind.INCOME, **by_ann)
    clearing.approve(proposed.pk, by=BEN, now=now)
    closing.close(RAIL, now=now)
    TransitNote.objects.create(
        line=1, reason="x", until=statement.last_day, written_by=ANN, written_at=now
    )
