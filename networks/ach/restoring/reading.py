"""One of our files as it lies at the bank: what is in it, read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple, Protocol

from networks.ach import accounts
from networks.ach.inbound.fetching import Listing
from networks.ach.nacha import codes
from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.items import Item
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import BatchHeader, EntryDetail, FileHeader
from networks.ach.states import FileKind


class Transport(Protocol):
    """What reads a bank's folders. `networks.ach.sftp.bank.Bank` says what it does and raises."""

    def list(self, folder: str) -> Listing: ...

    def read(self, folder: str, name: str) -> Iterable[bytes]: ...


class Terms(NamedTuple):
    """What makes an entry the same as one of ours, but for its trace number."""

    individual_id: str
    account_fingerprint: str
    routing_number: str
    transaction_code: int
    amount: int
    company_id: str


@dataclass(frozen=True)
class EntryThere:
    """An entry in a file at the bank. Cents."""

    trace_number: str
    terms: Terms
    account_last4: str
    is_debit: bool


@dataclass
class BatchThere:
    """A batch in a file at the bank."""

    header: BatchHeader
    entries: list[EntryThere] = field(default_factory=list)


@dataclass
class FileThere:
    """A file at the bank. `faults` are codes of what our reader finds wrong with it: then its
    batches may not be all."""

    name: str
    content: bytes
    header: FileHeader | None = None
    kind: FileKind = FileKind.FORWARD
    batches: list[BatchThere] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.content)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def entries(self) -> list[EntryThere]:
        return [entry for batch in self.batches for entry in batch.entries]

    @property
    def last_trace(self) -> str:
        return max((entry.trace_number for entry in self.entries), default="")


def file_there(bank: Transport, folder: str, name: str) -> FileThere:
    """Read a file from the bank. Raises SftpError."""
    file = FileThere(name, b"".join(bank.read(folder, name)))
    for event in read(BytesIO(file.content)):
        if isinstance(event, Fault):
            if event.scope is not Scope.NOTE:
                file.faults.append(event.code)
        else:
            _note(file, event)
    return file


def _note(file: FileThere, item: Item) -> None:
    record = item.record
    if isinstance(record, FileHeader):
        file.header = record
    elif isinstance(record, BatchHeader):
        file.batches.append(BatchThere(record))
    elif isinstance(record, EntryDetail):
        file.faults += [fault.code for fault in item.faults if fault.scope is not Scope.NOTE]
        if item.addenda:
            file.kind = FileKind.REPLY  # our entries have none
        file.batches[-1].entries.append(_entry(record, file.batches[-1].header))


def _entry(detail: EntryDetail, header: BatchHeader) -> EntryThere:
    number = accounts.as_sent(detail.dfi_account_number)
    return EntryThere(
        trace_number=detail.trace_number,
        terms=Terms(
            individual_id=detail.individual_identification_number.strip(),
            account_fingerprint=accounts.fingerprint(number),
            routing_number=detail.receiving_dfi_routing_number,
            transaction_code=detail.transaction_code,
            amount=detail.amount,
            company_id=header.company_identification.strip(),
        ),
        account_last4=number[-4:],
        is_debit=detail.transaction_code in codes.DEBITS,
    )
