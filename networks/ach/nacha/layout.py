"""Where each field stands in the 94 characters of a record: one table for reading and writing.

Source: Nacha Operating Rules, Appendix Three (record formats), Four and Five.
"""

from __future__ import annotations

import re
from typing import Any, Generic, TypeVar

from networks.ach.nacha import records
from networks.ach.nacha.fields import (
    Field,
    always,
    code,
    day,
    day_of_year,
    digits,
    hour,
    number,
    reserved,
    right,
    text,
)

RECORD_LENGTH = 94
RECORDS_PER_BLOCK = 10
FILL = "9" * RECORD_LENGTH

R = TypeVar("R", bound=tuple[Any, ...])


class Layout(Generic[R]):
    """The fields of one type of record, in order. They fill the record exactly."""

    def __init__(self, record: type[R], *fields: Field) -> None:
        names = [field.name for field in fields if field.value]
        if sum(field.width for field in fields) != RECORD_LENGTH:
            raise ValueError(f"{record} does not have {RECORD_LENGTH} characters")
        if names != list(getattr(record, "_fields", ())):
            raise ValueError(f"{record} has other fields")
        self.fields = fields
        self._record = record
        self._values = [
            (place, field.value)
            for place, field in enumerate(field for field in fields if field.value)
            if field.value and field.value is not str
        ]
        self._texts = [
            (place, field.text)
            for place, field in enumerate(field for field in fields if field.value)
            if field.text
        ]
        self._readable = re.compile(
            "".join(f"({f.readable})" if f.value else f.readable for f in fields)
        ).fullmatch
        self._template = "".join(field.template for field in fields)
        self._writable = re.compile("".join(field.writable for field in fields)).fullmatch

    def read(self, characters: str) -> R | None:
        """The record, or None when a field has characters that it cannot have."""
        if not (found := self._readable(characters)):
            return None
        parts: list[Any] = list(found.groups())
        try:
            for place, value in self._values:
                parts[place] = value(parts[place])
        except ValueError:
            return None
        return tuple.__new__(self._record, parts)

    def write(self, record: R) -> str | None:
        """The record's 94 characters, or None when a field does not fit."""
        values: tuple[Any, ...] = record
        try:
            if self._texts:
                changed = list(record)
                for place, as_text in self._texts:
                    changed[place] = as_text(changed[place])
                values = tuple(changed)
            characters = self._template % values
        except (TypeError, ValueError):
            return None
        return characters if self._writable(characters) else None

    def unreadable(self, characters: str) -> list[str]:
        """The names of the fields that keep `read` from reading."""
        found: list[str] = []
        start = 0
        for field in self.fields:
            part = characters[start : start + field.width]
            start += field.width
            if not _is_readable(field, part):
                found.append(field.name)
        return found

    def end_of(self, name: str) -> int:
        """The position of the last character of a field, counted from 1."""
        end = 0
        for field in self.fields:
            end += field.width
            if field.name == name:
                break
        return end

    def unwritable(self, record: R) -> list[str]:
        """The names of the fields that keep `write` from writing."""
        named = [field for field in self.fields if field.value]
        return [
            field.name
            for field, value in zip(named, record, strict=True)
            if not _is_writable(field, value)
        ]


def _is_readable(field: Field, part: str) -> bool:
    if not re.fullmatch(field.readable, part):
        return False
    try:
        return field.value is None or field.value(part) is not NotImplemented
    except ValueError:
        return False


def _is_writable(field: Field, value: object) -> bool:
    try:
        part = field.template % (field.text(value) if field.text else value)
    except (TypeError, ValueError):
        return False
    return re.fullmatch(field.writable, part) is not None


FILE_HEADER = Layout(
    records.FileHeader,
    always("record_type_code", "1"),
    always("priority_code", "01"),
    right("immediate_destination", 10),
    right("immediate_origin", 10),
    day("file_creation_date", blank=False),
    hour("file_creation_time"),
    code("file_id_modifier", 1),
    always("record_size", "094"),
    always("blocking_factor", "10"),
    always("format_code", "1"),
    text("immediate_destination_name", 23),
    text("immediate_origin_name", 23),
    text("reference_code", 8),
)

BATCH_HEADER = Layout(
    records.BatchHeader,
    always("record_type_code", "5"),
    number("service_class_code", 3),
    text("company_name", 16),
    text("company_discretionary_data", 20),
    text("company_identification", 10),
    code("standard_entry_class_code", 3),
    text("company_entry_description", 10),
    text("company_descriptive_date", 6),
    day("effective_entry_date"),
    day_of_year("settlement_date"),
    text("originator_status_code", 1),
    digits("originating_dfi_identification", 8),
    number("batch_number", 7),
)

ENTRY_DETAIL = Layout(
    records.EntryDetail,
    always("record_type_code", "6"),
    number("transaction_code", 2),
    digits("receiving_dfi_identification", 8),
    digits("check_digit", 1),
    text("dfi_account_number", 17),
    number("amount", 10),
    text("individual_identification_number", 15),
    text("individual_name", 22),
    text("discretionary_data", 2),
    number("addenda_record_indicator", 1),
    digits("trace_number", 15),
)

ADDENDA_05 = Layout(
    records.Addenda05,
    always("record_type_code", "7"),
    always("addenda_type_code", "05"),
    text("payment_related_information", 80),
    number("addenda_sequence_number", 4),
    digits("entry_detail_sequence_number", 7),
)

ADDENDA_98 = Layout(
    records.Addenda98,
    always("record_type_code", "7"),
    always("addenda_type_code", "98"),
    code("change_code", 3),
    digits("original_entry_trace_number", 15),
    reserved(6),
    digits("original_receiving_dfi_identification", 8),
    text("corrected_data", 29),
    reserved(15),
    digits("trace_number", 15),
)

ADDENDA_98_REFUSED = Layout(
    records.Addenda98Refused,
    always("record_type_code", "7"),
    always("addenda_type_code", "98"),
    code("refused_cor_code", 3),
    digits("original_entry_trace_number", 15),
    reserved(6),
    digits("original_receiving_dfi_identification", 8),
    text("corrected_data", 29),
    code("change_code", 3),
    digits("trace_sequence_number", 7),
    reserved(5),
    digits("trace_number", 15),
)

ADDENDA_99 = Layout(
    records.Addenda99,
    always("record_type_code", "7"),
    always("addenda_type_code", "99"),
    code("return_reason_code", 3),
    digits("original_entry_trace_number", 15),
    day("date_of_death"),
    digits("original_receiving_dfi_identification", 8),
    text("addenda_information", 44),
    digits("trace_number", 15),
)

ADDENDA_99_DISHONORED = Layout(
    records.Addenda99Dishonored,
    always("record_type_code", "7"),
    always("addenda_type_code", "99"),
    code("dishonored_return_reason_code", 3),
    digits("original_entry_trace_number", 15),
    reserved(6),
    digits("original_receiving_dfi_identification", 8),
    reserved(3),
    digits("return_trace_number", 15),
    day_of_year("return_settlement_date"),
    code("return_reason_code", 2),
    text("addenda_information", 21),
    digits("trace_number", 15),
)

ADDENDA_99_CONTESTED = Layout(
    records.Addenda99Contested,
    always("record_type_code", "7"),
    always("addenda_type_code", "99"),
    code("contested_dishonored_return_reason_code", 3),
    digits("original_entry_trace_number", 15),
    day("date_original_entry_returned"),
    digits("original_receiving_dfi_identification", 8),
    day_of_year("original_settlement_date"),
    digits("return_trace_number", 15),
    day_of_year("return_settlement_date"),
    code("return_reason_code", 2),
    digits("dishonored_return_trace_number", 15),
    day_of_year("dishonored_return_settlement_date"),
    code("dishonored_return_reason_code", 2),
    reserved(1),
    digits("trace_number", 15),
)

BATCH_CONTROL = Layout(
    records.BatchControl,
    always("record_type_code", "8"),
    number("service_class_code", 3),
    number("entry_addenda_count", 6),
    number("entry_hash", 10),
    number("total_debit_entry_dollar_amount", 12),
    number("total_credit_entry_dollar_amount", 12),
    text("company_identification", 10),
    text("message_authentication_code", 19),
    reserved(6),
    digits("originating_dfi_identification", 8),
    number("batch_number", 7),
)

FILE_CONTROL = Layout(
    records.FileControl,
    always("record_type_code", "9"),
    number("batch_count", 6),
    number("block_count", 6),
    number("entry_addenda_count", 8),
    number("entry_hash", 10),
    number("total_debit_entry_dollar_amount", 12),
    number("total_credit_entry_dollar_amount", 12),
    reserved(39),
)
