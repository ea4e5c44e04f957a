"""What we sent beside what the bank says that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from common import crypto
from common.engine.lookups import one_of
from common.money import format_cents
from networks.ach.acknowledgments import (
    READERS,
    Acknowledgment,
    Extent,
    Reason,
    Unreadable,
    Verdict,
)
from networks.ach.inbound import storing
from networks.ach.models import AchBatch, AchEntry, InFile, OutFile
from networks.ach.states import FileStatus
from networks.ach.terms import InvalidTerms

BYTES_MAX = 2_000_000  # a larger acknowledgment is not read for a page
REASONS_SHOWN = 50
REFUSED_MAX = 1_000
_WORDS = {
    Verdict.ACCEPTED: "Accepted",
    Verdict.PART_REJECTED: "Accepted in part",
    Verdict.REJECTED: "Rejected",
}

_OURS = {
    FileStatus.ACKNOWLEDGED: "Accepted",
    FileStatus.PART_REJECTED: "Accepted in part",
    FileStatus.REJECTED: "Rejected",
}


@dataclass(frozen=True)
class Pair:
    """One thing as we have it and as the bank does."""

    label: str
    ours: str
    theirs: str

    @property
    def differs(self) -> bool:
        return self.ours != self.theirs


@dataclass(frozen=True)
class Compared:
    """One acknowledgment beside the file. `problem` says why it could not be read."""

    row: InFile
    pairs: list[Pair]
    reasons: list[str]
    problem: str = ""


def of(file: OutFile) -> list[Compared]:
    """All acknowledgments of a file, the newest first; there are hardly two."""
    return [_compared(file, row) for row in file.answers.order_by("-received_at")[:5]]


def _compared(file: OutFile, row: InFile) -> Compared:
    if row.size > BYTES_MAX:
        return Compared(row, [], [], "It is too large to be shown.")
    try:
        read = READERS[file.version.parsed.ack_format]
        said = read(storing.Reader(row), lambda _: Extent(file.batch_count, file.entry_count))
    except (KeyError, InvalidTerms, Unreadable, crypto.Undecryptable):
        return Compared(row, [], [], "It cannot be read.")
    return Compared(row, _pairs(file, said), _reasons(said))


def _pairs(file: OutFile, said: Acknowledgment) -> list[Pair]:
    numbers = list(said.rejected_batches)[:REFUSED_MAX]
    refused = list(file.batches.filter(batch_number__in=numbers))
    debit, credit = _accepted_sums(file, refused, list(said.rejected_entries)[:REFUSED_MAX])
    return [
        Pair("File", file.remote_name, said.name),
        Pair("sha256", file.sha256[:16], said.sha256[:16]),
        Pair("Verdict", _ours(file), _WORDS[said.verdict]),
        Pair("Debits accepted", format_cents(debit), format_cents(said.debit)),
        Pair("Credits accepted", format_cents(credit), format_cents(said.credit)),
        Pair("Batches rejected", str(len(refused)), str(len(said.rejected_batches))),
    ]


def _accepted_sums(
    file: OutFile, refused: list[AchBatch], traces: Sequence[str]
) -> tuple[int, int]:
    """What the bank must have accepted: all but what it says that it refused. Cents."""
    if file.status == FileStatus.REJECTED:
        return 0, 0
    entries = AchEntry.objects.filter(one_of("trace_number", traces), batch__file=file)
    single = entries.exclude(batch__in=refused).aggregate(
        debit=Coalesce(Sum("amount", filter=Q(is_debit=True)), 0),
        credit=Coalesce(Sum("amount", filter=Q(is_debit=False)), 0),
    )
    return (
        file.debit_total - sum(batch.debit_total for batch in refused) - single["debit"],
        file.credit_total - sum(batch.credit_total for batch in refused) - single["credit"],
    )


def _ours(file: OutFile) -> str:
    status = FileStatus(file.status)
    return _OURS.get(status, str(status.label).capitalize())


def _reasons(said: Acknowledgment) -> list[str]:
    found = [_reason("", each) for each in said.reasons]
    for number, reasons in said.rejected_batches.items():
        found += [_reason(f"Batch {number}: ", each) for each in reasons]
    found += [f"Entry {trace}: {code}" for trace, code in said.rejected_entries.items()]
    found += [f"Entry {trace}: remark {word}" for trace, word in said.warnings.items()]
    return found[:REASONS_SHOWN]


def _reason(about: str, reason: Reason) -> str:
    return f"{about}line {reason.line}, {reason.code} {reason.detail}".strip()
