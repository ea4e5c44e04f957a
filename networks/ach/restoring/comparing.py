"""What lies in a bank's folders, beside what our rows say. It changes nothing.

After a backup of an hour ago was restored, the bank has files that our rows do not know, or think
unsent, and entries that our rows still want to send.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from networks import calendar
from networks.ach import accounts, building, offsets, rails
from networks.ach.file_rows import TRACES_MAX
from networks.ach.models import AchEntry, InFile, OutFile, TraceCounter
from networks.ach.restoring.reading import EntryThere, FileThere, Terms, Transport, file_there
from networks.ach.states import EntryStatus, FileStatus
from networks.ach.terms import RailTerms

# Our rows think that the bank does not have it.
UNSENT = (FileStatus.BUILDING, FileStatus.BUILT, FileStatus.HELD, FileStatus.RELEASED)
_MAY_GO_AGAIN = (EntryStatus.WAITING, EntryStatus.FROZEN, EntryStatus.SENT)


@dataclass(frozen=True)
class Again:
    """An entry of ours that lies at the bank, and that must not go there once more."""

    entry: AchEntry
    there: EntryThere


@dataclass(frozen=True)
class Unknown:
    """A file at the bank. `row` is our file of its date, time and modifier, which we think unsent;
    None if we have none. `again` are its entries that our rows would send once more, `lost` those
    that no row of ours knows."""

    folder: str
    file: FileThere
    row: OutFile | None
    again: list[Again]
    lost: list[EntryThere]


@dataclass(frozen=True)
class Unread:
    """A file from the bank that was never stored here."""

    folder: str
    name: str
    size: int
    sha256: str


@dataclass
class Comparison:
    """What is missing here, and until when we know everything: what came later from the bank, and
    was removed there, it has to put there once more. `next_trace` is what the trace counter has to
    be set to; 0 if it is right."""

    unknown: list[Unknown] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    unanswered: list[OutFile] = field(default_factory=list)
    last_sent_at: datetime | None = None
    last_received_at: datetime | None = None
    next_trace: int = 0

    @property
    def is_missing_something(self) -> bool:
        return bool(self.unknown or self.unread or self.next_trace)


def compare(bank: Transport, rail: str) -> Comparison:
    """Look into every folder of the bank. Raises SftpError, NoTerms, InvalidTerms."""
    terms = rails.current(rail).parsed
    ours = _Ours(rail)
    found = Comparison(
        unread=list(_unread(bank, rail, terms)),
        unanswered=list(OutFile.objects.filter(rail_id=rail, status=FileStatus.SENT)),
        last_sent_at=_last(OutFile.objects.filter(rail_id=rail), "sent_at"),
        last_received_at=_last(InFile.objects.filter(rail_id=rail), "received_at"),
    )
    for folder, file in unknown_files(bank, rail, terms):
        found.unknown.append(ours.look_at(folder, file))
    found.next_trace = _next_trace(terms.odfi, [each.file for each in found.unknown])
    return found


def unknown_files(bank: Transport, rail: str, terms: RailTerms) -> Iterator[tuple[str, FileThere]]:
    """The files that the bank has of us, and that we do not know as sent, with their folders: the
    oldest first by name. A file whose name and size we know as sent is not read."""
    sent = {
        row.remote_name: row
        for row in OutFile.objects.filter(rail_id=rail).exclude(status__in=UNSENT)
        if row.remote_name and row.sent_at
    }
    line = terms.connection
    for folder in filter(None, (line.archive, line.folders.outbound)):
        for remote in bank.list(folder).files:
            row = sent.get(remote.name)
            if row is not None and getattr(remote, "size", None) == row.size:
                continue
            file = file_there(bank, folder, remote.name)
            if row is None or row.sha256 != file.sha256:
                yield folder, file


class _Ours:
    """The entries of a rail that could go to the bank (again)."""

    def __init__(self, rail: str) -> None:
        self._rail = rail
        self._of: dict[Terms, list[AchEntry]] = defaultdict(list)
        rows = AchEntry.objects.filter(rail_id=rail, status=EntryStatus.WAITING)
        open_files = OutFile.objects.filter(rail_id=rail, status__in=(*UNSENT, FileStatus.SENT))
        frozen = AchEntry.objects.filter(
            rail_id=rail, status__in=_MAY_GO_AGAIN, batch__file__in=open_files
        )
        for each in (rows, frozen):
            for entry in each.order_by("-pk").defer("account_token"):
                self._of[terms_of(entry)].append(entry)

    def look_at(self, folder: str, file: FileThere) -> Unknown:
        """Which of a file's entries are ours. Two files take no entry twice."""
        again, lost = [], []
        for batch in file.batches:
            if offsets.is_one(batch.header):
                continue  # our own account's side
            for there in batch.entries:
                entry = self._take(there)
                if entry is None:
                    lost.append(there)
                else:
                    again.append(Again(entry, there))
        return Unknown(folder, file, self._row(file), again, lost)

    def _take(self, there: EntryThere) -> AchEntry | None:
        """The entry of ours: under the same trace if there is one, otherwise the oldest."""
        alike = self._of.get(there.terms, [])
        same = [entry for entry in alike if entry.trace_number == there.trace_number]
        if not alike:
            return None
        entry = same[0] if same else alike[-1]
        alike.remove(entry)
        return entry

    def _row(self, file: FileThere) -> OutFile | None:
        """Our file of that date, time and modifier, which we think unsent."""
        if file.header is None:
            return None
        same = OutFile.objects.filter(
            rail_id=self._rail,
            immediate_origin=file.header.immediate_origin.strip(),
            file_date=file.header.file_creation_date,
            file_time=file.header.file_creation_time,
            modifier=file.header.file_id_modifier,
            status__in=UNSENT,
        ).select_related("version")
        row = same.first()
        return row if row is not None and building.remote_name(row) == file.name else None


def terms_of(entry: AchEntry) -> Terms:
    return Terms(
        individual_id=entry.individual_id,
        account_fingerprint=accounts.by_newest_key(entry),
        routing_number=entry.routing_number,
        transaction_code=entry.transaction_code,
        amount=entry.amount,
        company_id=entry.company_id,
    )


def moment_of(file: FileThere) -> datetime | None:
    """When the file was made, by its header."""
    header = file.header
    if header is None or header.file_creation_time is None:
        return None
    return datetime.combine(
        header.file_creation_date, header.file_creation_time, tzinfo=calendar.EASTERN
    )


def _next_trace(odfi: str, files: Iterable[FileThere]) -> int:
    """What follows the last number of the youngest of these files; 0 if the counter is there, or
    further on. The numbers go round: what is less than half a round ahead is later."""
    last = max(
        ((file.header, file.last_trace) for file in files if file.header and file.last_trace),
        key=lambda each: (
            each[0].file_creation_date,
            str(each[0].file_creation_time),
            each[0].file_id_modifier,
        ),
        default=None,
    )
    if last is None or last[1][:8] != odfi:
        return 0
    counter = TraceCounter.objects.filter(pk=odfi).first()
    wanted = int(last[1][8:]) % TRACES_MAX + 1
    ahead = (wanted - (counter.next if counter else 1)) % TRACES_MAX
    return wanted if 0 < ahead < TRACES_MAX // 2 else 0


def _unread(bank: Transport, rail: str, terms: RailTerms) -> Iterator[Unread]:
    folders = terms.connection.folders
    for folder in (folders.ack, folders.inbound, folders.statements):
        for remote in bank.list(folder).files:
            digest, size = hashlib.sha256(), 0
            for block in bank.read(folder, remote.name):
                digest.update(block)
                size += len(block)
            sha256 = digest.hexdigest()
            own = InFile.objects.filter(rail_id=rail, sha256=sha256, uploaded_by="")
            if not own.exists():
                yield Unread(folder, remote.name, size, sha256)


def _last(rows: object, column: str) -> datetime | None:
    found = rows.exclude(**{column: None}).order_by(f"-{column}")  # type: ignore[attr-defined]
    value: datetime | None = found.values_list(column, flat=True).first()
    return value
