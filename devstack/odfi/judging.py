"""What the operator refuses: whole files and batches. Single entries are judged in `entries`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Protocol

from devstack.odfi import layouts
from devstack.odfi.layouts import HASH_LIMIT, Totals
from devstack.odfi.parts import Batch, Entry, Reason, a_day, is_blank, is_number
from devstack.odfi.reading import Unreadable, records
from devstack.odfi.terms import Terms

ALIEN = re.compile(r"[^ -~]")
SECS = frozenset({"ARC", "BOC", "CCD", "CIE", "COR", "POP", "PPD", "RCK", "TEL", "WEB"})
SERVICE_CLASSES = {"200": layouts.DEBITS | layouts.CREDITS, "220": layouts.CREDITS}
SERVICE_CLASSES["225"] = layouts.DEBITS
RESERVED = frozenset(
    {"ACCTVERIFY", "PAYROLL", "PURCHASE", "RECLAIM", "RETRY PYMT", "RETURN FEE", "REVERSAL"}
)
# What may follow what: the kind of record last seen, and the kinds that may come.
NEXT = {"": "1", "1": "59", "5": "68", "6": "678", "7": "678", "8": "59", "9": "9"}


class Sink(Protocol):
    """Gets batches and entries as they are read, which may be before they are refused."""

    def open(self, batch: Batch) -> None: ...

    def entry(self, batch: Batch, entry: Entry) -> None: ...

    def close(self, batch: Batch) -> None: ...


class _Stop(Exception):
    """No more can be made of the file."""


@dataclass
class Report:
    """The file as a whole. It is refused when it has any reasons."""

    header: dict[str, str] = field(default_factory=dict)
    reasons: list[Reason] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    batches: int = 0

    def refuse(self, line: int, code: str, detail: str = "") -> None:
        self.reasons.append(Reason(line, code, detail))


def examine(stream: BinaryIO, terms: Terms, sink: Sink) -> Report:
    """Read a file from its start, tell `sink` what is in it, and judge it."""
    return _Examination(terms, sink).run(stream)


class _Examination:
    def __init__(self, terms: Terms, sink: Sink) -> None:
        self.terms, self.sink = terms, sink
        self.report = Report()
        self.last = ""
        self.line = 0
        self.batch: Batch | None = None
        self.pending: Entry | None = None
        self.control: dict[str, str] = {}
        self.control_line = 0

    def run(self, stream: BinaryIO) -> Report:
        try:
            for self.line, record in records(stream):
                self._take(record)
            self._finish()
        except Unreadable as problem:
            self.report.refuse(problem.line, problem.code, problem.detail)
        except _Stop:
            pass
        return self.report

    def _take(self, record: str) -> None:
        kind = record[0]
        if self.last == "9":
            if record != layouts.PADDING:
                self._stop("record_order", "something follows the file control")
            return
        if kind not in "156789":
            self._stop("record_type_unknown", repr(kind))
        if kind not in NEXT[self.last] or record == layouts.PADDING:
            self._stop("record_order", f"{kind} after {self.last or 'nothing'}")
        if kind != "5" and ALIEN.search(record):
            self._refuse("characters", "only printable ASCII is taken")
        self.last = kind
        self._RECORDS[kind](self, record)

    def _file_header(self, record: str) -> None:
        header = self.report.header = layouts.FILE_HEADER.read(record)
        expected = {
            "priority_code": (header["priority"], "01"),
            "destination_unknown": (header["destination"].strip(), self.terms.routing),
            "sender_unknown": (header["origin"].strip(), self.terms.customer_id),
            "record_size_field": (header["record_size"], "094"),
            "blocking_factor": (header["blocking"], "10"),
            "format_code": (header["format"], "1"),
        }
        for code, (found, wanted) in expected.items():
            if found != wanted:
                self.report.refuse(self.line, code, f"{found!r}, not {wanted!r}")
        if not re.fullmatch("[A-Z0-9]", header["modifier"]):
            self.report.refuse(self.line, "file_id_modifier", repr(header["modifier"]))
        if a_day(header["date"]) is None:
            self.report.refuse(self.line, "file_date_invalid", repr(header["date"]))
        if not _is_time(header["time"]):
            self.report.refuse(self.line, "file_time_invalid", repr(header["time"]))

    def _batch_header(self, record: str) -> None:
        batch = self.batch = Batch(self.line, layouts.BATCH_HEADER.read(record))
        if ALIEN.search(record):
            batch.refuse(self.line, "characters", "only printable ASCII is taken")
        _judge_header(batch, self.terms)
        self.report.batches += 1
        self.sink.open(batch)

    def _entry(self, record: str) -> None:
        self._end_entry()
        self.pending = Entry.parse(self.line, record)

    def _addenda(self, record: str) -> None:
        if self.pending is None:
            self._stop("record_order", "an addenda record without its entry")
        else:
            self.pending.addenda.append(record)

    def _batch_control(self, record: str) -> None:
        self._end_entry()
        batch, self.batch = self.batch, None
        if batch is None:
            raise _Stop
        _judge_control(batch, layouts.BATCH_CONTROL.read(record), self.line)
        self.report.totals.add(batch.totals)
        self.sink.close(batch)

    def _file_control(self, record: str) -> None:
        self.control = layouts.FILE_CONTROL.read(record)
        self.control_line = self.line

    def _end_entry(self) -> None:
        entry, self.pending = self.pending, None
        if entry is not None and self.batch is not None:
            _judge_entry(self.batch, entry)
            self.sink.entry(self.batch, entry)

    def _finish(self) -> None:
        if self.last != "9":
            self._stop("record_order", "the file control is missing")
        report, totals = self.report, self.report.totals
        expected = {
            "batches": ("file_batch_count", report.batches),
            "blocks": ("file_block_count", self.line // layouts.BLOCK),
            "count": ("file_entry_count", totals.count),
            "hash": ("file_hash", totals.hash % HASH_LIMIT),
            "debit": ("file_debit_total", totals.debit),
            "credit": ("file_credit_total", totals.credit),
        }
        for name, (code, counted) in expected.items():
            if not _is(self.control[name], counted):
                detail = f"{self.control[name]!r}, counted {counted}"
                report.refuse(self.control_line, code, detail)

    def _refuse(self, code: str, detail: str) -> None:
        """Refuse the batch we are in, or else the file."""
        if self.batch is not None:
            self.batch.refuse(self.line, code, detail)
        else:
            self.report.refuse(self.line, code, detail)

    def _stop(self, code: str, detail: str) -> None:
        self.report.refuse(self.line, code, detail)
        raise _Stop

    _RECORDS = {  # noqa: RUF012
        "1": _file_header,
        "5": _batch_header,
        "6": _entry,
        "7": _addenda,
        "8": _batch_control,
        "9": _file_control,
    }


def _judge_header(batch: Batch, terms: Terms) -> None:
    header, sec = batch.header, batch.header["sec"]
    description = batch.text("description")
    checks = {
        "service_class_invalid": header["service_class"] in SERVICE_CLASSES,
        "company_name_blank": not is_blank(header["company_name"]),
        "company_description_blank": not is_blank(header["description"]),
        "company_id_blank": not is_blank(header["company_id"]),
        "company_unknown": not terms.company_ids or batch.text("company_id") in terms.company_ids,
        "international_not_supported": sec != "IAT",
        "sec_invalid": sec in SECS or sec == "IAT",
        "description_lower_case": description in RESERVED or description.upper() not in RESERVED,
        "settlement_date_not_blank": not header["settlement"].strip(),
        "originator_status": header["status"] == "1",
        "odfi_unknown": header["odfi"] == terms.odfi,
        "batch_number_not_numeric": is_number(header["number"]),
    }
    for code, is_right in checks.items():
        if not is_right:
            batch.refuse(batch.line, code)


def _judge_entry(batch: Batch, entry: Entry) -> None:
    known = layouts.DEBITS | layouts.CREDITS
    of_class = SERVICE_CLASSES.get(batch.header["service_class"], known)
    checks = {
        "transaction_code_invalid": entry.code in known,
        "transaction_code_not_for_service_class": entry.code in of_class or entry.code not in known,
        "transaction_code_not_for_sec": _fits_sec(entry.code, batch.header["sec"]),
        "amount_not_numeric": is_number(entry.amount_text),
        "trace_prefix": entry.trace[:8] == batch.header["odfi"] and is_number(entry.trace),
        "trace_not_ascending": entry.trace > batch.last_trace,
    }
    for code, is_right in checks.items():
        if not is_right:
            batch.refuse(entry.line, code, f"trace {entry.trace}")
    batch.last_trace = entry.trace
    batch.has_returns |= entry.is_return
    batch.has_forward |= not entry.is_return
    if batch.has_returns and batch.has_forward:
        batch.refuse(entry.line, "forward_and_return_mixed")
    batch.totals.add(entry.totals)


def _fits_sec(code: str, sec: str) -> bool:
    """Changes name entries by return codes; entries of no amount that carry remittance are CCD."""
    if sec == "COR":
        return code in layouts.RETURNS
    return sec == "CCD" or code not in layouts.ZERO_DOLLAR


def _judge_control(batch: Batch, control: dict[str, str], line: int) -> None:
    totals, header = batch.totals, batch.header
    checks = {
        "batch_order": batch.has_forward or batch.has_returns,
        "service_class_differs": control["service_class"] == header["service_class"],
        "company_id_differs": control["company_id"] == header["company_id"],
        "odfi_differs": control["odfi"] == header["odfi"],
        "batch_number_differs": control["number"] == header["number"],
        "batch_entry_count": _is(control["count"], totals.count),
        "batch_hash": _is(control["hash"], totals.hash % HASH_LIMIT),
        "batch_debit_total": _is(control["debit"], totals.debit),
        "batch_credit_total": _is(control["credit"], totals.credit),
    }
    for code, is_right in checks.items():
        if not is_right:
            batch.refuse(line, code)


def _is(text: str, number: int) -> bool:
    return is_number(text) and int(text) == number


def _is_time(text: str) -> bool:
    if not text.strip():
        return True
    try:
        datetime.strptime(text, "%H%M")  # noqa: DTZ007
    except ValueError:
        return False
    return len(text) == 4 and is_number(text)
