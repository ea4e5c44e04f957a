"""ACH files: from waiting entries to files that are released, and returns from the bank applied."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from benchmarks import database, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure
from benchmarks.options import Options
from benchmarks.processes import ROOT
from common.clock import utc_now
from networks import calendar
from networks.ach import acknowledging, changing, originating, sending
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import storing
from networks.ach.models import AchEntry, InRecord, OutFile
from networks.ach.models.inbound import InFolder
from networks.ach.nacha.records import Addenda99, BatchHeader, Entry, EntryDetail, FileHeader
from networks.ach.nacha.writer import write
from networks.ach.network import AchNetwork
from networks.ach.originating import Company
from networks.ach.rails import current
from networks.ach.terms import Cutoff, RailTerms
from networks.base import (
    SUBMIT_MANY_MAX,
    AccountType,
    Authorization,
    BankAccount,
    HolderType,
    Instruction,
    Method,
    Purpose,
)
from networks.rails.models import RailKind

RAIL = "benchmark_bank"
MAKE_SECONDS, READ_SECONDS, BUILDER_MIB = 300, 120, 300
MANY = 1_000_000  # entries that the aim of `MAKE_SECONDS` is for
_TERMS = RailTerms(
    odfi_routing="124000313",
    immediate_destination=" 124000313",
    immediate_destination_name="BENCHMARK BANK",
    immediate_origin="1987654321",
    immediate_origin_name="BALLAST",
    company_id="1987654321",
    company_name="BALLAST",
    descriptions={"topup": "TOPUP", "payment": "PAYMENT"},
    cutoffs=(Cutoff(at=time_of_day(10, 0)),),
    same_day_max=0,
    dual_release=False,
    active=True,
)
_TABLES = ("ach_achrail", "ach_tracecounter")
# The least that keeps a row of each entry: no index, no rule, one statement, one commit.
_BARE = """
DROP TABLE IF EXISTS bare_entry;
CREATE TABLE bare_entry AS SELECT * FROM ach_achentry LIMIT 0;
"""
_COPY = "INSERT INTO bare_entry SELECT * FROM ach_achentry"
_CHANGE = """
UPDATE bare_entry SET status = 'frozen', batch_id = 1, frozen_at = now(),
    trace_number = '12400031' || lpad((id % 10000000)::text, 7, '0'), effective_date = now()::date
"""


@dataclass(frozen=True)
class Run:
    """A process that worked."""

    found: dict[str, Any]

    def seconds(self, *steps: str) -> float:
        return float(sum(self.found[step]["seconds"] for step in steps))

    def cpu_seconds(self, step: str) -> float:
        return float(self.found[step]["cpu_seconds"])

    @property
    def peak_mib(self) -> float:
        return float(self.found["peak_mib"])


def measure(options: Options, *, write_rate: float) -> tuple[str, list[Figure]]:
    """What was measured, and the figures. `write_rate`: entries per second of CPU that the codec
    alone writes here. Raises CannotMeasure."""
    count = options.scaled(100_000, 2_000, MANY)
    returns = options.scaled(20_000, 500)
    seeding.require_own_database()
    database.empty(*_TABLES, and_references=True)
    moment = _freeze_moment()
    open_rail(moment)
    half = count // 2
    taken = work("take", moment - timedelta(hours=2), (0, half), (half, count - half))
    bare = _bare_seconds()
    (made,) = work("make", moment)
    _require_released(count)
    figures = _made_figures(count, taken, bare, made, write_rate)
    read = _apply_returns(returns, moment)
    database.empty(*_TABLES, and_references=True)
    text = (
        f"Files: {count:,} waiting debits, one process, at most 250,000 in a file and 100,000 in a "
        "batch; durable. Released: frozen, written, judged, sealed and let go by rule. The aim of "
        f"{MAKE_SECONDS} s is for {MANY:,} entries (`--full`), and scaled here. Bare: the same "
        "rows changed by one statement in a table without index, rule or trigger. Returns: a file "
        f"of {returns:,}, each of another entry, stored before, read and applied by one process."
    )
    return text, [*figures, *read]


def work(what: str, moment: datetime, *shares: tuple[int, int]) -> list[Run]:
    """Let a process of its own do it, or one for each share. Raises CannotMeasure."""
    command = [sys.executable, "-m", "benchmarks.ach_work", what, RAIL, moment.isoformat()]
    running = [
        subprocess.Popen(  # noqa: S603  # our own command, no shell
            [*command, *map(str, share)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for share in shares or [()]
    ]
    runs = []
    for process in running:
        told, problem = process.communicate()
        if process.returncode:
            raise CannotMeasure(f"the worker could not {what}: {problem[-500:]}")
        runs.append(Run(json.loads(told.splitlines()[-1])))
    return runs


def _made_figures(
    count: int, taken: Sequence[Run], bare: float, made: Run, write_rate: float
) -> list[Figure]:
    seconds = made.seconds("freeze", "build")
    codec = count / write_rate
    return [
        Figure(
            name=f"{count:,} waiting entries to released files",
            unit="s",
            values=[seconds],
            aim=MAKE_SECONDS * count / MANY,
            at_most=True,
        ),
        Figure(name="… of it freezing", unit="s", values=[made.seconds("freeze")]),
        Figure(name="freezing ÷ bare change of the rows", values=[made.seconds("freeze") / bare]),
        Figure(name="… of it building", unit="s", values=[made.seconds("build")]),
        Figure(name="building, CPU ÷ the codec's", values=[made.cpu_seconds("build") / codec]),
        Figure(
            name="builder: peak memory",
            unit="MiB",
            values=[made.peak_mib],
            aim=BUILDER_MIB,
            at_most=True,
        ),
        Figure(
            name=f"{count:,} instructions taken by two",
            unit="s",
            values=[max(run.seconds("take") for run in taken)],
        ),
    ]


def _freeze_moment() -> datetime:
    """Ten minutes before the cut-off of a banking day a week ago: what settles next has settled."""
    day = calendar.banking_day_from(utc_now().date() - timedelta(days=7))
    return datetime.combine(day, time_of_day(9, 50), tzinfo=calendar.EASTERN).astimezone(UTC)


def open_rail(moment: datetime) -> None:
    """Put the terms of a rail in force, with one company."""
    now = moment - timedelta(hours=3)
    changing.open_rail(name=RAIL, kind=RailKind.STAND_IN, now=now)
    changing.change_alone(
        rail=RAIL, terms=_TERMS, offset_account=None, by="benchmark", reason="benchmark", now=now
    )
    company = Company(company_name="BALLAST", company_id="1987654321")
    originating.assign(rail=RAIL, tenant_id="", company=company, now=now)


def take(first: int, count: int, now: datetime) -> int:
    """Hand over so many instructions. Raises CannotMeasure."""
    network = AchNetwork(RAIL)
    for start in range(first, first + count, SUBMIT_MANY_MAX):
        end = min(start + SUBMIT_MANY_MAX, first + count)
        answers = network.submit_many([_debit(each) for each in range(start, end)], now=now)
        if refused := [each for each in answers.values() if isinstance(each, Exception)]:
            raise CannotMeasure(f"an instruction was refused: {refused[0]}")
    return count


def _debit(number: int) -> Instruction:
    return Instruction(
        id=f"ftx_{number:026d}",
        method=Method.ACH_DEBIT,
        amount=number % 100_000 + 1,
        account=BankAccount(
            routing_number="011000015",
            account_number=f"{744_000_000 + number}",
            holder_name="Acme Corporation",
            holder_type=HolderType.BUSINESS,
            account_type=AccountType.CHECKING,
        ),
        purpose=Purpose.TOPUP,
        tenant_id=f"ten_{number % 1_000:026d}",
        authorization=Authorization.CORPORATE,
        individual_id=f"{number:015d}",
    )


def _bare_seconds() -> float:
    """Of changing a copy of the rows that has no index, rule or trigger."""
    database.execute(_BARE)
    database.execute(_COPY)
    database.execute("VACUUM ANALYZE ach_achentry")
    began = time.monotonic()
    database.execute(_CHANGE)
    seconds = time.monotonic() - began
    database.execute("DROP TABLE bare_entry")
    return seconds


def _require_released(count: int) -> None:
    """Raises CannotMeasure unless each entry is in a file that may go."""
    there = sum(OutFile.objects.filter(status="released").values_list("entry_count", flat=True))
    if there != count or AchEntry.objects.filter(status="waiting").exists():
        raise CannotMeasure(f"{there:,} of {count:,} entries are in released files")


def _apply_returns(count: int, moment: datetime) -> list[Figure]:
    file = OutFile.objects.order_by("created_at", "pk")[0]
    _accept(file, moment)
    now = utc_now()
    content = _returns(file, count, now.date())
    storing.store(
        rail_id=RAIL, folder=InFolder.INBOUND, name="returns.ach", content=[content], now=now
    )
    (read,) = work("read", now)
    done = InRecord.objects.filter(status="applied").count()
    if done != count or AchEntry.objects.filter(status="returned").count() != count:
        raise CannotMeasure(f"{done:,} of {count:,} returns were applied")
    return [
        Figure(
            name=f"{count:,} returns read and applied",
            unit="s",
            values=[read.seconds("read")],
            aim=READ_SECONDS,
            at_most=True,
        ),
        Figure(name="… CPU of the worker", unit="s", values=[read.cpu_seconds("read")]),
        Figure(name="reader: peak memory", unit="MiB", values=[read.peak_mib]),
    ]


def _accept(file: OutFile, moment: datetime) -> None:
    """As if the bank had taken the file and said so."""
    OutFile.objects.filter(pk=file.pk).update(temporary_name="benchmark")
    sending.sent(file.pk, now=moment)
    acknowledging.acknowledged(
        file.pk, verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}, now=moment
    )


def _returns(file: OutFile, count: int, day: date) -> bytes:
    """A file in which the first entries of a file of ours come back."""
    terms = current(RAIL).parsed
    header = FileHeader(
        immediate_destination=terms.immediate_origin,
        immediate_origin=terms.immediate_destination,
        file_creation_date=day,
        file_creation_time=time_of_day(8, 30),
        file_id_modifier="A",
        immediate_destination_name=terms.immediate_origin_name,
        immediate_origin_name=terms.immediate_destination_name,
        reference_code="",
    )
    entries = AchEntry.objects.filter(batch__file=file).order_by("trace_number")[:count]
    sink = io.BytesIO()
    write(sink, header, [(_batch(day), _returned(list(entries)))])
    return sink.getvalue()


def _batch(day: date) -> BatchHeader:
    return BatchHeader(
        service_class_code=225,
        company_name=_TERMS.company_name,
        company_discretionary_data="",
        company_identification=_TERMS.company_id,
        standard_entry_class_code="CCD",
        company_entry_description="TOPUP",
        company_descriptive_date="",
        effective_entry_date=None,
        settlement_date=day.timetuple().tm_yday,
        originator_status_code="1",
        originating_dfi_identification="01100001",
        batch_number=1,
    )


def _returned(entries: list[AchEntry]) -> Iterator[Entry]:
    for number, entry in enumerate(entries, start=1):
        trace = f"01100001{number:07d}"
        detail = EntryDetail(
            transaction_code=26,
            receiving_dfi_identification=_TERMS.odfi_routing[:8],
            check_digit=_TERMS.odfi_routing[8],
            dfi_account_number=entry.account_number,
            amount=entry.amount,
            individual_identification_number=entry.individual_id,
            individual_name=entry.name,
            discretionary_data="",
            addenda_record_indicator=1,
            trace_number=trace,
        )
        yield Entry(
            detail,
            (
                Addenda99(
                    return_reason_code="R01",
                    original_entry_trace_number=entry.trace_number,
                    date_of_death=None,
                    original_receiving_dfi_identification=entry.routing_number[:8],
                    addenda_information="",
                    trace_number=trace,
                ),
            ),
        )
