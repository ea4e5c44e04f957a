"""Reads a BAI2 file as a stream: its statements, and by name whatever is wrong with it.

A file has groups (02 to 98) of accounts (03 to 49) with transactions (16); each level states a
control total and counts what it holds. Every account of a group is a statement as of the group's
date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from networks.bank_statements.amounts import BadAmount
from networks.bank_statements.bai2 import records
from networks.bank_statements.bai2.account import Account
from networks.bank_statements.bai2.fields import BadField
from networks.bank_statements.bai2.framing import Record, Unframed
from networks.bank_statements.bai2.framing import records as framed
from networks.bank_statements.faults import Fault, differs, fault
from networks.bank_statements.items import Event
from networks.bank_statements.source import Chunks
from networks.bank_statements.statements import Statements

_VERSION = "2"


def read(chunks: Chunks) -> Iterator[Event]:
    """The statements and the faults. Raises source.TooLarge, and OSError when the file cannot be
    read."""
    file = _File()
    try:
        for record in framed(chunks):
            yield from file.take(record)
            if file.is_lost:
                return
    except Unframed as unframed:
        yield fault(unframed.code, position=unframed.position)
        return
    yield from file.end()


class _Sums:
    """What a group or the file adds up to: control totals, members, physical records."""

    def __init__(self) -> None:
        self.total = self.members = self.records = 0
        self.doubtful = False

    def add(self, *, total: int, records: int, doubtful: bool) -> None:
        self.total += total
        self.members += 1
        self.records += records
        self.doubtful |= doubtful

    def differences(
        self, trailer: records.Trailer, codes: tuple[str, str, str], position: int
    ) -> Iterator[Fault]:
        found = (self.total, self.members, self.records)
        if not self.doubtful:
            for code, said, counted in zip(codes, trailer, found, strict=True):
                if said != counted:
                    yield differs(code, said=said, found=counted, position=position)


class _File:
    """Where the reading stands: which records may come next, and what they add up to."""

    def __init__(self) -> None:
        self.is_lost = False
        self._statements = Statements()
        self._header: records.FileHeader | None = None
        self._group: records.GroupHeader | None = None
        self._account: Account | None = None
        self._of_group = _Sums()
        self._of_file = _Sums()
        self._position = 0
        self._is_over = False
        self._take = {
            "01": self._file_header,
            "02": self._group_header,
            "03": self._account_header,
            "16": self._transaction,
            "49": self._account_trailer,
            "98": self._group_trailer,
            "99": self._file_trailer,
        }

    def take(self, record: Record) -> Iterator[Event]:
        self._position = record.position
        if self._is_over:
            yield self._lose("record_after_file_trailer")
        elif self._header is None and record.code != "01":
            yield self._lose("file_header_missing")
        elif take := self._take.get(record.code):
            yield from take(record)
        else:
            yield self._lose("record_order" if record.code == "88" else "record_type_unknown")

    def end(self) -> Iterator[Event]:
        if not self._position:
            yield fault("file_empty")
        elif not self._is_over:
            yield fault("file_truncated", position=self._position)

    def _lose(self, code: str) -> Fault:
        """A fault after which the rest of the file says nothing."""
        self.is_lost = True
        return fault(code, position=self._position)

    def _file_header(self, record: Record) -> Iterator[Event]:
        if self._header:
            yield self._lose("record_order")
            return
        try:
            self._header = records.file_header(record)
        except BadField as bad:
            yield self._lose(bad.code)
            return
        if self._header.version != _VERSION:
            yield self._lose("version_unsupported")
        self._of_file.records += record.size

    def _group_header(self, record: Record) -> Iterator[Event]:
        if self._group or self._account:
            yield self._lose("record_order")
            return
        self._group = records.group_header(record)
        self._of_group = _Sums()
        self._of_group.records += record.size

    def _account_header(self, record: Record) -> Iterator[Event]:
        if self._group is None or self._header is None or self._account:
            yield self._lose("record_order")
            return
        self._account = Account(self._statements, self._header, self._group, record)
        yield from self._account.begin()

    def _transaction(self, record: Record) -> Iterable[Event]:
        if self._account is None:
            return [self._lose("record_order")]
        return self._account.transaction(record)

    def _account_trailer(self, record: Record) -> Iterator[Event]:
        account = self._account
        if account is None:
            yield self._lose("record_order")
            return
        trailer = _trailer(record, records.account_trailer)
        if trailer is None:
            yield self._lose("trailer_invalid")
            return
        yield from account.end(record, trailer)
        self._of_group.add(total=account.total, records=account.records, doubtful=account.is_unread)
        self._account = None

    def _group_trailer(self, record: Record) -> Iterator[Event]:
        if self._group is None or self._account:
            yield self._lose("record_order")
            return
        trailer = _trailer(record, records.trailer)
        if trailer is None:
            yield self._lose("trailer_invalid")
            return
        group = self._of_group
        group.records += record.size
        codes = ("group_total_wrong", "group_accounts_wrong", "group_records_wrong")
        yield from group.differences(trailer, codes, record.position)
        self._of_file.add(total=group.total, records=group.records, doubtful=group.doubtful)
        self._group = None

    def _file_trailer(self, record: Record) -> Iterator[Event]:
        if self._group or self._account:
            yield self._lose("record_order")
            return
        trailer = _trailer(record, records.trailer)
        if trailer is None:
            yield self._lose("trailer_invalid")
            return
        self._is_over = True
        self._of_file.records += record.size
        codes = ("file_total_wrong", "file_groups_wrong", "file_records_wrong")
        yield from self._of_file.differences(trailer, codes, record.position)


def _trailer(
    record: Record, read_one: Callable[[Record], records.Trailer]
) -> records.Trailer | None:
    """The trailer, or None where it cannot be read."""
    try:
        return read_one(record)
    except (BadField, BadAmount):
        return None
