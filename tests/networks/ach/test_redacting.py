"""What people download: the bytes as sent, without account numbers."""

from __future__ import annotations

import pytest

from networks.ach import redacting
from networks.ach.nacha import layout

ENTRY = "627091000019" + "0012345678       " + "0000012345" + "ID1".ljust(15) + "ACME".ljust(22)
ENTRY = (ENTRY + "  0" + "091000010000001").ljust(94)
HEADER = "101 091000019 1234567890".ljust(94)
CHANGE = "798C01091000010000001".ljust(27) + "09100001" + "99887766554433221".ljust(29)
CHANGE = CHANGE.ljust(79) + "091000010000001"


def masked(*pieces):
    return b"".join(redacting.redacted(piece.encode() for piece in pieces)).decode()


def test_stand_where_the_layout_has_them():
    entry, change = layout.ENTRY_DETAIL.read(ENTRY), layout.ADDENDA_98.read(CHANGE)

    assert entry
    assert entry.dfi_account_number.strip() == "0012345678"
    assert ENTRY[redacting.ACCOUNT] == "0012345678       "
    assert change
    assert change.corrected_data.strip() == "99887766554433221"


def test_an_account_keeps_its_last_four_and_its_width():
    assert masked(f"{ENTRY}\n") == ENTRY.replace("0012345678", "******5678") + "\n"


def test_corrected_data_is_masked_whole():
    assert "99887766554433221" not in masked(CHANGE)
    assert len(masked(CHANGE)) == len(CHANGE)


SHIFTED = [
    ENTRY[:5] + ENTRY[6:],  # a byte less, before the number
    ENTRY[:5] + "7" + ENTRY[5:],  # a byte more
    ENTRY[:5] + ENTRY[6:] + " ",  # and as long as it should be
    ENTRY[:5] + ENTRY[6:61] + " " + ENTRY[61:],  # or put right behind it
    ENTRY[:5] + "7" + ENTRY[5:-1],
    ENTRY[:3] + ENTRY[4:],
    ENTRY.replace("0012345678   ", "0012345678\x01  "),
    CHANGE[:2] + CHANGE[3:],
    CHANGE[:30] + CHANGE[31:],
    CHANGE[:30] + "0" + CHANGE[30:-1],
    CHANGE[:-1] + " ",
]


@pytest.mark.parametrize("record", SHIFTED)
def test_a_record_that_is_shifted_shows_no_digit(record):
    found = masked(record)

    assert found[0] == record[0]
    assert not any(each.isdigit() for each in found[1:])
    assert len(found) == len(record)
    assert ("ACME" in found) == ("ACME" in record)


def test_an_account_of_letters_and_digits_is_masked_whole_where_it_is_shifted():
    record = ENTRY.replace("0012345678       ", "744-AB-5678-99   ")

    assert "AB" not in masked(record[:5] + record[6:])


@pytest.mark.parametrize("cut", [1, 13, 20, 93, 94, 95, 120, 188])
def test_pieces_may_end_anywhere(cut):
    whole = f"{HEADER}\n{ENTRY}\n{CHANGE}\n"

    assert masked(whole[:cut], whole[cut:]) == masked(whole)


def test_records_without_line_ends_are_masked_too():
    assert masked(HEADER + ENTRY + ENTRY).count("******5678") == 2


def test_every_other_byte_stays():
    whole = f"{HEADER}\r\n{ENTRY}\r\n"
    found = masked(whole)

    assert [place for place in range(len(whole)) if whole[place] != found[place]] == list(
        range(96 + 12, 96 + 18)
    )


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("1234", "****"),
        ("12345", "*2345"),
        ("  744-5678-99  ", "  *******8-99  "),
        ("11111111", "****1111"),
        ("   ", "   "),
    ],
)
def test_numbers(number, shown):
    assert redacting.masked_number(number) == shown
