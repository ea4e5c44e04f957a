"""A rail with entries on their way, and the files by which its bank answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import count

from common import crypto
from networks.ach import schedule
from networks.ach.accounts import fingerprint
from networks.ach.inbound import reading, storing
from networks.ach.models import (
    AchBatch,
    AchEntry,
    AchEvent,
    AchRail,
    InFile,
    InRecord,
    Originator,
    OutFile,
    RailVersion,
)
from networks.ach.models.events import AchEventKind
from networks.ach.models.inbound import InFolder
from networks.ach.states import EntryStatus, FileStatus
from networks.ach.terms import Cutoff, RailTerms
from networks.bank_details import last4
from networks.calendar import opening_of_business
from tests.networks.ach import witnessed
from tests.networks.ach.builders import heard
from tests.networks.ach.nacha import raw

NOW = datetime(2026, 11, 25, 14, 0, tzinfo=UTC)  # Wednesday, 9:00 Eastern
AGREED = NOW - timedelta(days=30)
SETTLED = date(2026, 11, 24)
CAME = date(2026, 11, 25)
RAIL = "firstbank"
ODFI = "09100001"
ROUTING = "090000515"
RDFI = ROUTING[:8]
ACCOUNT = "744-5678-99"
COMPANY_ID = "1234567890"
TERMS = RailTerms(
    odfi_routing="091000019",
    immediate_destination=" 091000019",
    immediate_destination_name="FIRST BANK",
    immediate_origin=COMPANY_ID,
    immediate_origin_name="BALLAST",
    company_id=COMPANY_ID,
    company_name="BALLAST",
    descriptions={"topup": "TOPUP", "payment": "PAYOUT"},
    cutoffs=(Cutoff(at=time(16, 30)),),
    same_day_max=0,
)


def make_rail(name=RAIL, **terms):
    rail = AchRail.objects.create(name=name, created_at=NOW)
    heard(name)
    version = RailVersion.objects.create(
        rail=rail,
        number=1,
        terms=replace(TERMS, **terms).as_json(),
        status="current",
        by_command=True,
        proposed_by="ops",
        proposed_at=AGREED,
        reason="first",
        decided_by="ops",
        decided_at=AGREED,
    )
    witnessed.agreed(version)
    Originator.objects.create(
        rail=rail, company_name="BALLAST", company_id=COMPANY_ID, created_at=NOW
    )
    return rail


_minutes = count()


def make_file(rail, status=FileStatus.SENT):
    """A file that was sent."""
    sent = NOW - timedelta(days=2)
    minute = next(_minutes)
    return OutFile.objects.create(
        rail=rail,
        version=RailVersion.objects.get(rail=rail),
        immediate_origin=COMPANY_ID,
        file_date=sent.date() - timedelta(days=minute // 1440),
        file_time=time(minute // 60 % 24, minute % 60),
        modifier="A",
        cutoff_at=sent,
        status=status,
        batch_count=10,
        entry_count=1_000,
        size=940,
        sha256=f"{minute:064x}",
        remote_name=f"{minute}.ach",
        created_at=sent,
        built_at=sent,
        built_by="builder",
        released_at=sent,
        released_how="rule",
        sent_at=sent,
    )


def make_batch(rail, *, status=FileStatus.SENT, number=1, file=None, **columns):
    """A batch, in a file of its own unless one is given."""
    values = {
        "sec": "CCD",
        "service_class": 225,
        "company_name": "BALLAST",
        "company_id": COMPANY_ID,
        "description": "TOPUP",
        "effective_date": SETTLED,
        "entry_count": 1,
        "entry_hash": 0,
        "debit_total": 0,
        "credit_total": 0,
        "first_trace": f"{ODFI}0000001",
    }
    return AchBatch.objects.create(
        file=file or make_file(rail, status),
        batch_number=number,
        originator=Originator.objects.get(rail=rail, ended_at=None),
        **values | columns,
    )


def unsaved_entry(batch, sequence=1, *, account=ACCOUNT, settled=SETTLED, in_file=True, **columns):
    instruction_id = columns.pop("instruction_id", f"ftx_{sequence:026d}")
    sent = NOW - timedelta(days=2)
    values = {
        "tenant_id": "acme",
        "purpose": "topup",
        "is_debit": True,
        "sec": "CCD",
        "transaction_code": 27,
        "routing_number": ROUTING,
        "name": "ACME CORP",
        "individual_id": "ID1",
        "company_name": "BALLAST",
        "company_id": COMPANY_ID,
        "description": "TOPUP",
        "amount": 150_00,
        "speed": "standard",
        "effective_date": SETTLED,
        "status": EntryStatus.ACCEPTED,
        "created_at": sent,
        "frozen_at": sent,
        "sent_at": sent,
        "accepted_at": sent,
        "trace_number": f"{ODFI}{sequence:07d}",
    }
    if not in_file:
        none = dict.fromkeys(("effective_date", "frozen_at", "sent_at", "accepted_at"))
        values |= none | {"trace_number": ""}
    return AchEntry(
        instruction_id=instruction_id,
        rail_id=batch.file.rail_id,
        originator_id=batch.originator_id,
        batch=batch if in_file else None,
        account_token=crypto.encrypt(account, context=AchEntry.context_of(instruction_id)),
        account_fingerprint=fingerprint(account),
        account_last4=last4(account),
        settlement_date=settled,
        terms_digest="",
        **values | columns,
    )


def make_entry(batch, sequence=1, **columns):
    """An entry that its bank has, with what is to be told of its settlement."""
    entry = unsaved_entry(batch, sequence, **columns)
    entry.save()
    if entry.settlement_date:
        final = schedule.final_at(entry.settlement_date, is_debit=True, same_day=False)
        for kind, due in (
            ("settled", opening_of_business(entry.settlement_date)),
            ("final", final),
        ):
            AchEvent.objects.create(
                rail_id=entry.rail_id,
                entry=entry,
                instruction_id=entry.instruction_id,
                kind=kind,
                amount=entry.amount,
                settlement_date=entry.settlement_date,
                occurred_at=due,
                due_at=due,
            )
    return entry


_answer_traces = count(1)


def returned(entry, code="R01", *, trace=None, **changes):
    """The two records by which an entry comes back."""
    trace = trace or f"{RDFI}{next(_answer_traces):07d}"
    fields = {
        "code": "26" if entry.is_debit else "21",
        "rdfi": ODFI,
        "check": "9",
        "account": entry.account_number,
        "amount": entry.amount,
        "indicator": "1",
        "trace": trace,
    }
    return [
        raw.entry(**fields | changes),
        raw.addenda_99(
            trace, code=code, original=entry.trace_number, rdfi=entry.routing_number[:8]
        ),
    ]


def changed(entry, code="C01", data="74456709001", **changes):
    """The two records of a notification of change."""
    trace = f"{RDFI}{next(_answer_traces):07d}"
    fields = {
        "code": "26" if entry.is_debit else "21",
        "rdfi": ODFI,
        "check": "9",
        "account": entry.account_number,
        "amount": 0,
        "indicator": "1",
        "trace": trace,
    }
    return [
        raw.entry(**fields | changes),
        raw.addenda_98(
            trace,
            code=code,
            original=entry.trace_number,
            rdfi=entry.routing_number[:8],
            data=data,
        ),
    ]


def answer_file(*batches, day="261125"):
    """The lines of a file from the bank."""
    header = raw.file_header(destination=COMPANY_ID, origin=" 091000019", day=day)
    return raw.file(*batches, header=header)


def answer_batch(*records, **header):
    return raw.batch(*records, **{"odfi": RDFI, "settlement": "329"} | header)


def change_batch(*records, **header):
    return answer_batch(*records, **{"sec": "COR"} | header)


def store(lines, *, name="returns.ach", folder=InFolder.INBOUND, rail=RAIL, now=NOW):
    data = lines if isinstance(lines, bytes) else raw.content(lines)
    return storing.store(rail_id=rail, folder=folder, name=name, content=[data], now=now).file


def take(lines, *, now=NOW, **where):
    """Store a file and read it as a worker does; gives its row as it is then."""
    file = store(lines, now=now, **where)
    reading.read_due(now=now)
    return InFile.objects.get(pk=file.pk)


def told(entry):
    """What is still to be told, or was, of an entry: kind and code, in order."""
    live = AchEvent.objects.filter(entry=entry, voided_at=None).order_by("due_at", "id")
    return [(AchEventKind(kind).value, code) for kind, code in live.values_list("kind", "code")]


def records(file):
    """Line, status and note of each record of a file."""
    return list(
        InRecord.objects.filter(file=file).order_by("line").values_list("line", "status", "note")
    )
