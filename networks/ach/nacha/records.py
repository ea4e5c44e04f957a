"""The records of a NACHA file, each field under the name that the rule book gives it.

Amounts are cents. Routing and trace numbers are text, because their leading zeros count. Text
fields have no trailing blanks. What is the same in every record (its type, reserved positions) is
no field. Named tuples, because a file has millions of them. Source: Nacha Operating Rules, Appendix
Three (record formats), Four (returns) and Five (notifications of change).
"""

from __future__ import annotations

from datetime import date, time
from typing import NamedTuple


class FileHeader(NamedTuple):
    """Type 1. The destination is the bank or operator that receives the file, as it wants to be
    named: a blank and its routing number, or ten characters agreed with it."""

    immediate_destination: str
    immediate_origin: str
    file_creation_date: date
    file_creation_time: time | None
    file_id_modifier: str
    immediate_destination_name: str
    immediate_origin_name: str
    reference_code: str


class BatchHeader(NamedTuple):
    """Type 5. `settlement_date` is the day of the year (1 to 366), which the operator fills in."""

    service_class_code: int
    company_name: str
    company_discretionary_data: str
    company_identification: str
    standard_entry_class_code: str
    company_entry_description: str
    company_descriptive_date: str
    effective_entry_date: date | None
    settlement_date: int | None
    originator_status_code: str
    originating_dfi_identification: str
    batch_number: int


class EntryDetail(NamedTuple):
    """Type 6 of CCD, PPD, WEB, TEL and COR.

    CCD calls two fields otherwise: Identification Number and Receiving Company Name.
    """

    transaction_code: int
    receiving_dfi_identification: str
    check_digit: str
    dfi_account_number: str
    amount: int
    individual_identification_number: str
    individual_name: str
    discretionary_data: str
    addenda_record_indicator: int
    trace_number: str

    @property
    def payment_type_code(self) -> str:
        """What WEB and TEL have in place of discretionary data: S single, R recurring."""
        return self.discretionary_data

    @property
    def receiving_dfi_routing_number(self) -> str:
        """All nine digits. In a return it is the bank that sent the original entry."""
        return self.receiving_dfi_identification + self.check_digit


class Addenda05(NamedTuple):
    """Type 7, code 05: text that goes with an entry. Its last field is the end of the entry's trace
    number."""

    payment_related_information: str
    addenda_sequence_number: int
    entry_detail_sequence_number: str


class Addenda98(NamedTuple):
    """Type 7, code 98: a notification of change (NOC). What `corrected_data` holds depends on the
    code."""

    change_code: str
    original_entry_trace_number: str
    original_receiving_dfi_identification: str
    corrected_data: str
    trace_number: str


class Addenda98Refused(NamedTuple):
    """Type 7, code 98 with C61 to C69: the originating bank refuses a notification of change.

    `trace_sequence_number` is the end of the trace number of the notification.
    """

    refused_cor_code: str
    original_entry_trace_number: str
    original_receiving_dfi_identification: str
    corrected_data: str
    change_code: str
    trace_sequence_number: str
    trace_number: str


class Addenda99(NamedTuple):
    """Type 7, code 99: a return. The date of death is only for R14 and R15."""

    return_reason_code: str
    original_entry_trace_number: str
    date_of_death: date | None
    original_receiving_dfi_identification: str
    addenda_information: str
    trace_number: str


class Addenda99Dishonored(NamedTuple):
    """Type 7, code 99 with R61 to R70: the originating bank does not accept a return.

    `return_reason_code` has two digits, without the R. Settlement dates are days of the year.
    """

    dishonored_return_reason_code: str
    original_entry_trace_number: str
    original_receiving_dfi_identification: str
    return_trace_number: str
    return_settlement_date: int | None
    return_reason_code: str
    addenda_information: str
    trace_number: str


class Addenda99Contested(NamedTuple):
    """Type 7, code 99 with R71 to R77: the receiving bank contests a dishonored return, or corrects
    it (R74). Reason codes inside have two digits; settlement dates are days of the year."""

    contested_dishonored_return_reason_code: str
    original_entry_trace_number: str
    date_original_entry_returned: date | None
    original_receiving_dfi_identification: str
    original_settlement_date: int | None
    return_trace_number: str
    return_settlement_date: int | None
    return_reason_code: str
    dishonored_return_trace_number: str
    dishonored_return_settlement_date: int | None
    dishonored_return_reason_code: str
    trace_number: str


class BatchControl(NamedTuple):
    """Type 8: what the batch adds up to. The hash is the sum of the receiving banks' numbers, its
    last ten digits."""

    service_class_code: int
    entry_addenda_count: int
    entry_hash: int
    total_debit_entry_dollar_amount: int
    total_credit_entry_dollar_amount: int
    company_identification: str
    message_authentication_code: str
    originating_dfi_identification: str
    batch_number: int


class FileControl(NamedTuple):
    """Type 9: what the file adds up to. A block is ten records, those that fill it included."""

    batch_count: int
    block_count: int
    entry_addenda_count: int
    entry_hash: int
    total_debit_entry_dollar_amount: int
    total_credit_entry_dollar_amount: int


Addenda = (
    Addenda05 | Addenda98 | Addenda98Refused | Addenda99 | Addenda99Dishonored | Addenda99Contested
)
Record = FileHeader | BatchHeader | EntryDetail | Addenda | BatchControl | FileControl


class Entry(NamedTuple):
    """An entry detail record and the addenda that belong to it."""

    detail: EntryDetail
    addenda: tuple[Addenda, ...] = ()
