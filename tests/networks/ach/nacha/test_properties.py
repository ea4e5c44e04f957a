"""Files of every kind: what was written is read again, is right, and cannot be changed unseen."""

from __future__ import annotations

from datetime import date, time
from io import BytesIO

from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from networks.ach.nacha import records
from networks.ach.nacha.entries import check_digit
from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.reader import read
from networks.ach.nacha.validator.judge import Validator
from networks.ach.nacha.writer import write

ODFI = "09100001"
CREATED = date(2026, 11, 20)
DEBITS = {"live": (27, 37, 47), "prenote": (28, 38, 48)}
CREDITS = {"live": (22, 32, 42, 52), "prenote": (23, 33, 43, 53)}
RETURNS = (21, 26, 31, 36)
SETTLEMENT_DAYS = st.none() | st.integers(1, 366)

_MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-&/.,#'"


def texts(width, *, least=0):
    """Upper-case text without blanks around it."""
    inner = st.text(_MARKS + " ", max_size=width).map(str.strip)
    return inner.filter(lambda text: not least or text.strip(" 0") != "")


def digits(width):
    return st.integers(0, 10**width - 1).map(lambda number: f"{number:0{width}d}")


banks = st.sampled_from([*range(1, 13), *range(21, 33)]).flatmap(
    lambda prefix: digits(6).map(lambda rest: f"{prefix:02d}{rest}")
)


@st.composite
def details(draw, codes, *, amounts, sec="CCD", indicator=0):
    bank = draw(banks)
    return records.EntryDetail(
        transaction_code=draw(st.sampled_from(codes)),
        receiving_dfi_identification=bank,
        check_digit=check_digit(bank),
        dfi_account_number=draw(texts(17, least=1)),
        amount=draw(amounts),
        individual_identification_number=draw(texts(15)),
        individual_name=draw(texts(22, least=1)),
        discretionary_data=draw(st.sampled_from("SR")) if sec == "WEB" else draw(texts(2)),
        addenda_record_indicator=indicator,
        trace_number="",
    )


@st.composite
def forward_entries(draw, sec, *, debit):
    kinds = DEBITS if debit else CREDITS
    if draw(st.booleans()):
        detail = draw(details(kinds["live"], amounts=st.integers(1, 10**10 - 1), sec=sec))
    else:
        detail = draw(details(kinds["prenote"], amounts=st.just(0), sec=sec))
    if draw(st.booleans()):
        addendum = records.Addenda05(draw(texts(80)), 1, "")
        return detail._replace(addenda_record_indicator=1), (addendum,)
    return detail, ()


@st.composite
def returned_entries(draw, addenda, *, amounts):
    """An entry with one addenda record, whose kind is a named tuple's."""
    detail = draw(details(RETURNS, amounts=amounts, indicator=1))
    return detail, (draw(addenda),)


DISHONORED = st.builds(
    records.Addenda99Dishonored,
    st.sampled_from(["R61", "R62", "R67", "R68", "R69", "R70"]),
    digits(15),
    digits(8),
    digits(15),
    st.integers(1, 366),
    digits(2),
    texts(21),
    st.just(""),
)
REFUSED = st.builds(
    records.Addenda98Refused,
    st.sampled_from([f"C6{n}" for n in range(1, 10)]),
    digits(15),
    digits(8),
    texts(29, least=1),
    st.sampled_from(["C01", "C05", "C13"]),
    digits(7),
    st.just(""),
)
RETURNED = st.builds(
    records.Addenda99,
    st.sampled_from(["R01", "R10", "R15", "R29"]),
    digits(15),
    st.none() | st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    digits(8),
    texts(44),
    st.just(""),
)
CONTESTED = st.builds(
    records.Addenda99Contested,
    st.sampled_from(["R71", "R73", "R74"]),
    digits(15),
    st.none() | st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    digits(8),
    SETTLEMENT_DAYS,
    digits(15),
    SETTLEMENT_DAYS,
    digits(2),
    digits(15),
    SETTLEMENT_DAYS,
    digits(2),
    st.just(""),
)
CHANGED = st.builds(
    records.Addenda98,
    st.sampled_from(["C01", "C03", "C07"]),
    digits(15),
    digits(8),
    texts(29, least=1),
    st.just(""),
)
AMOUNTS = st.integers(0, 10**10 - 1)
OURS = (
    ("CCD", 225, forward_entries("CCD", debit=True)),
    ("WEB", 225, forward_entries("WEB", debit=True)),
    ("PPD", 220, forward_entries("PPD", debit=False)),
    ("CCD", 200, forward_entries("CCD", debit=True) | forward_entries("CCD", debit=False)),
    ("CCD", 200, returned_entries(DISHONORED, amounts=AMOUNTS)),
    ("COR", 200, returned_entries(REFUSED, amounts=st.just(0))),
)
THEIRS = (
    ("TEL", 225, forward_entries("WEB", debit=True)),
    ("WEB", 200, returned_entries(RETURNED, amounts=AMOUNTS)),
    ("CCD", 200, returned_entries(CONTESTED, amounts=AMOUNTS)),
    ("COR", 200, returned_entries(CHANGED, amounts=st.just(0))),
)


@st.composite
def batches(draw, kinds, number, first, *, theirs):
    """A batch header and entries, their traces numbered from `first`."""
    sec, service_class, entries = draw(st.sampled_from(kinds))
    header = records.BatchHeader(
        service_class_code=service_class,
        company_name=draw(texts(16, least=1)),
        company_discretionary_data=draw(texts(20)),
        company_identification=draw(texts(10, least=1)),
        standard_entry_class_code=sec,
        company_entry_description=draw(texts(10, least=1)),
        company_descriptive_date=draw(texts(6)),
        effective_entry_date=date(2026, 11, 23),
        settlement_date=draw(SETTLEMENT_DAYS) if theirs else None,
        originator_status_code="1",
        originating_dfi_identification=ODFI,
        batch_number=number,
    )
    found = draw(st.lists(entries, min_size=1, max_size=4))
    return header, [_numbered(pair, first + place) for place, pair in enumerate(found)]


def _numbered(pair, sequence):
    detail, addenda = pair
    trace = f"{ODFI}{sequence:07d}"
    if addenda and isinstance(addenda[0], records.Addenda05):
        addenda = (addenda[0]._replace(entry_detail_sequence_number=trace[8:]),)
    elif addenda:
        addenda = (addenda[0]._replace(trace_number=trace),)
    return records.Entry(detail._replace(trace_number=trace), addenda)


@st.composite
def files(draw, kinds=OURS, *, theirs=False):
    header = records.FileHeader(
        immediate_destination=draw(st.sampled_from(["091000019", "1234567890"])),
        immediate_origin=draw(st.sampled_from(["1234567890", "090000515"])),
        file_creation_date=CREATED,
        file_creation_time=draw(st.none() | st.sampled_from([time(0, 0), time(22, 44)])),
        file_id_modifier=draw(st.sampled_from("AZ09")),
        immediate_destination_name=draw(texts(23)),
        immediate_origin_name=draw(texts(23)),
        reference_code=draw(texts(8)),
    )
    numbers = draw(st.lists(st.integers(1, 9_999_999), min_size=1, max_size=3, unique=True))
    found = [
        draw(batches(kinds, number, 1 + place * 10, theirs=theirs))
        for place, number in enumerate(sorted(numbers))
    ]
    return header, found


def written(file):
    sink = BytesIO()
    write(sink, *file)
    return sink.getvalue()


def faults(data):
    return [
        event.code
        for event in read(BytesIO(data))
        if isinstance(event, Fault) and event.scope is not Scope.NOTE
    ]


@examples(max_examples=50)
@given(files() | files(OURS + THEIRS, theirs=True))
def test_what_was_written_is_read_again(file):
    header, expected = file
    found: list[tuple[records.BatchHeader, list[records.Entry]]] = []

    for item in read(BytesIO(written(file))):
        assert not isinstance(item, Fault)
        if isinstance(item.record, records.FileHeader):
            assert item.record == header
        elif isinstance(item.record, records.BatchHeader):
            found.append((item.record, []))
        elif isinstance(item.record, records.EntryDetail):
            found[-1][1].append(records.Entry(item.record, item.addenda))

    assert found == expected


@examples(max_examples=50)
@given(files())
def test_what_was_written_passes_the_validator(file):
    assume(not any(header.company_entry_description == "ACCTVERIFY" for header, _ in file[1]))
    data = written(file)

    judge = Validator(BytesIO(data))

    assert [tuple(fault[:2]) for fault in judge] == []
    assert judge.entries == sum(len(entries) for _, entries in file[1])


# Totals, hashes, counts and ids, by type of record, counted from 0.
GUARDED = {
    "5": [0, *range(1, 4), *range(40, 50), *range(79, 94)],
    "6": [0, *range(3, 12), *range(29, 39), *range(79, 87)],
    "7": [0, 1, 2, *range(87, 94)],
    "8": [*range(54), *range(79, 94)],
    "9": range(55),
}


@examples(max_examples=50)
@given(files(), st.data())
def test_no_byte_of_totals_hashes_and_ids_can_be_changed_unseen(file, data):
    content = bytearray(written(file))
    lines = content.decode().splitlines()
    line = data.draw(
        st.sampled_from([n for n, text in enumerate(lines) if n and text != "9" * 94]), "line"
    )
    place = line * 95 + data.draw(st.sampled_from(list(GUARDED[lines[line][0]])), "place")
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]), "byte")

    content[place] = byte

    assert faults(bytes(content))
    assert list(Validator(BytesIO(bytes(content))))
