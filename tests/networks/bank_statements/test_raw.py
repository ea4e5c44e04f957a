"""The record behind a line, as its file has it."""

from __future__ import annotations

from io import BytesIO

import pytest

from networks.bank_statements import raw
from networks.bank_statements.items import Line
from networks.bank_statements.reading import read
from tests.networks.bank_statements.reading import BAI2, CAMT

IBAN = "<IBAN>DE89370400440532013000</IBAN>"


def records_of(text):
    """The record of each line."""
    content = text.encode()
    lines = [event for event in read(BytesIO(content)) if isinstance(event, Line)]
    return [raw.record(BytesIO(content), line.position) for line in lines]


def test_a_record_of_bai2_comes_with_its_continuations():
    assert records_of(BAI2)[:3] == [
        "16,115,450000,S,100000,200000,150000,,,/",
        "16,165,1000000,1,DD1620,CUST-7,DEALER PAYMENTS, INC.",
        "16,557,500000,V,261130,1200,R1,021000020000001,R01 JANE DOE\n88,AMOUNT 5,000.00",
    ]


def test_an_entry_of_camt_comes_whole():
    records = records_of(CAMT)

    assert records
    assert len(set(records)) == len(records) == CAMT.count("<Ntry>")
    for record in records:
        assert record.startswith("<Ntry ")
        assert record.endswith("</Ntry>")
        assert record.count("<Amt ") >= 1


def test_of_account_numbers_the_last_four_are_left():
    content = CAMT.replace("</Ntry>", f"<X>{IBAN}<Othr><Id>12345678</Id></Othr></X></Ntry>")

    record = raw.record(BytesIO(content.encode()), 1)

    assert "<IBAN>··3000</IBAN>" in record
    assert "<Id>··5678</Id>" in record


@pytest.mark.parametrize("content", [BAI2, CAMT], ids=["bai2", "camt"])
def test_there_may_be_none(content):
    assert raw.record(BytesIO(content.encode()), 10_000) == ""
