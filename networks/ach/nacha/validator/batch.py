"""One batch of an outbound file, from its header to its control."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from networks.ach.nacha.validator import dates, entries, tables
from networks.ach.nacha.validator.tables import DIGITS
from networks.ach.nacha.validator.terms import Terms
from networks.ach.nacha.validator.totals import Totals
from networks.ach.nacha.validator.traces import Traces

Found = Iterator[tuple[int, str, str]]  # a line, a code of a fault, and a sentence or nothing
_TEST = "ACCTVERIFY"


class Batch:
    """`header` is the record of type 5, at `line`; `created` and `at` are of the file header."""

    def __init__(
        self, header: str, *, line: int, created: date | None, at: str, terms: Terms, traces: Traces
    ) -> None:
        self.totals = Totals()
        self.entries = self.returned = 0
        self.sec = header[50:53]
        self.description = header[53:63].rstrip()
        # Entries of these have other fields, which are not judged.
        self.is_advice = header[1:4] == "280" or self.sec == "ADV"
        self.is_foreign = self.is_advice or self.sec == "IAT"
        self._line = line
        self._header = header
        self._created, self._at = created, at
        self._terms = terms
        self._traces = traces
        self._effective = dates.a_date(header[69:75])
        self._entry = ""
        self._entry_line = 0
        self._addenda = 0
        self._trace = ""

    @property
    def is_test(self) -> bool:
        """Whether its entries test accounts."""
        return self.description == _TEST

    def judge_header(self, former_number: int) -> Found:
        for found in (self._class(), self._company(), self._numbers(former_number)):
            yield from _at(self._line, found)

    def judge_entry(self, line: int, text: str) -> Found:
        """A record of type 6, and the end of the entry before it."""
        yield from self.end_entry()
        self._entry, self._entry_line, self._addenda = text, line, 0
        self.entries += 1
        self.totals.records += 1
        if not self.is_foreign:
            yield from _at(line, self._judge_fields(text))

    def judge_addendum(self, line: int, text: str) -> Found:
        """A record of type 7."""
        self.totals.records += 1
        self._addenda += 1
        if not self._entry:
            yield line, "record_order", "an addenda record without an entry"
        elif not self.is_foreign:
            yield from _at(line, entries.addendum(text, self._entry, self._addenda, self.sec))

    def end_entry(self) -> Found:
        if self._entry and self._entry[78] == "1" and not self._addenda:
            yield self._entry_line, "addenda_missing", ""
        self._entry = ""

    def judge_control(self, line: int, control: str) -> Found:
        """A record of type 8, which repeats four fields of the header."""
        yield from self.end_entry()
        yield from _at(line, self._against(control))
        yield from _at(self._line, self._judge_date())

    def _judge_fields(self, text: str) -> entries.Found:
        if wrong := list(entries.fields(text)):
            yield from wrong
            return
        self._add(text)
        service_class = self._header[1:4]
        yield from entries.receiver(text, self.sec)
        yield from entries.kind_of_entry(text, self.sec, service_class, self.description)
        if text[1:3] in tables.TRANSACTION_CODES:
            same_day = self._effective is not None and self._effective == self._created
            yield from entries.amount(
                text, self.sec, self.description, same_day=same_day, terms=self._terms
            )
        yield from self._judge_trace(text[79:94])

    def _against(self, control: str) -> entries.Found:
        if not self.entries:
            yield "batch_empty", ""
        if 0 < self.returned < self.entries:
            yield "forward_and_return_mixed", ""
        for name, mine, theirs in (
            ("service_class_code", self._header[1:4], control[1:4]),
            ("company_identification", self._header[40:50], control[44:54]),
            ("originating_dfi_identification", self._header[79:87], control[79:87]),
            ("batch_number", self._header[87:94], control[87:94]),
        ):
            if mine != theirs and not self.is_advice:
                yield f"{name}_differs", ""
        if self.is_foreign:
            return
        for name, detail in self.totals.against(control, start=4, count=6):
            yield f"batch_{name}_wrong", detail
        if control[73:79].strip():
            yield "reserved_invalid", ""

    def _judge_date(self) -> entries.Found:
        """The effective date, which only forward entries need."""
        if self.returned or self.sec == "COR" or self._created is None:
            return
        if self._effective is None:
            if not self._header[69:75].strip():
                yield "effective_entry_date_missing", ""
            return
        yield from dates.effective(
            self._effective,
            created=self._created,
            at=self._at,
            service_class=self._header[1:4],
            terms=self._terms,
        )

    def _company(self) -> entries.Found:
        header = self._header
        for name, part in (
            ("company_name", header[4:20]),
            ("company_identification", header[40:50]),
            ("company_entry_description", header[53:63]),
        ):
            if tables.is_blank(part):
                yield f"{name}_blank", ""

    def _numbers(self, former_number: int) -> entries.Found:
        header = self._header
        if header[69:75].strip() and self._effective is None:
            yield "effective_entry_date_invalid", ""
        if header[75:78].strip():
            yield "settlement_date_filled", ""
        if header[78] != "1":
            yield "originator_status_code_wrong", ""
        if not DIGITS(header[79:87]):
            yield "originating_dfi_identification_invalid", ""
        elif not tables.is_bank(header[79:87]):
            yield "originating_dfi_identification_unknown", ""
        if not DIGITS(header[87:94]):
            yield "batch_number_invalid", ""
        elif int(header[87:94]) <= former_number:
            yield "batch_number_not_ascending", ""

    def _class(self) -> entries.Found:
        if self.is_advice:
            yield "adv_not_supported", ""
            return
        if self._header[1:4] not in tables.SERVICE_CLASSES:
            yield "service_class_code_unknown", ""
        if self.sec == "IAT":
            yield "international_not_supported", ""
        elif self.sec in tables.OTHERS:
            yield "sec_not_originated", f"we send no {self.sec} entries"
        elif self.sec not in tables.OURS:
            yield "standard_entry_class_code_unknown", ""

    def _add(self, text: str) -> None:
        self.totals.banks += int(text[3:11])
        direction, kind = tables.TRANSACTION_CODES.get(text[1:3], ("", ""))
        if direction == tables.DEBIT:
            self.totals.debit += int(text[29:39])
        elif direction == tables.CREDIT:
            self.totals.credit += int(text[29:39])
        self.returned += kind == tables.RETURNED

    def _judge_trace(self, trace: str) -> entries.Found:
        if trace <= self._trace:
            yield "trace_number_not_ascending", ""
        self._trace = trace
        if trace[:8] != self._header[79:87]:
            yield "trace_number_prefix_wrong", ""
        if not self._traces.is_new(trace):
            yield "trace_number_repeated", ""


def _at(line: int, found: entries.Found) -> Found:
    for code, detail in found:
        yield line, code, detail
