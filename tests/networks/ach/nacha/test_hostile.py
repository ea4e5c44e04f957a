"""What nobody should send: nothing raises, nothing is buffered, all of it has a name and a line."""

from __future__ import annotations

import random
import tracemalloc
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.framing import CHUNK_BYTES
from networks.ach.nacha.reader import FILE_FAULTS_MAX, read
from networks.ach.nacha.validator.judge import FAULTS_MAX, Validator
from tests.networks.ach.nacha import raw
from tests.networks.ach.nacha.reading import entries, events, faults, items, judged

MEBIBYTE = 1 << 20
RIGHT = raw.forward_file()


class Endless:
    """A source of `size` bytes: a beginning, then one pattern, made as it is read."""

    def __init__(self, pattern, size, beginning=b""):
        self._pattern = pattern
        self._rest = beginning
        self.left = size

    def read(self, size):
        size = min(size, self.left)
        self.left -= size
        while len(self._rest) < size:
            self._rest += self._pattern * (size // len(self._pattern) + 1)
        chunk, self._rest = self._rest[:size], self._rest[size:]
        return chunk


def peak_of(work):
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestFloods:
    def test_four_gibibytes_of_zeros_are_not_read(self):
        source = Endless(b"\0", 4 << 30)

        found, peak = peak_of(lambda: list(read(source)))

        assert [(fault.line, fault.code) for fault in found] == [
            (1, "file_header_missing"),
            (1, "framing_lost"),
        ]
        assert (4 << 30) - source.left <= CHUNK_BYTES
        assert peak < MEBIBYTE

    @pytest.mark.parametrize("pattern", [b" ", b"\n", b"9", b"6" * 93 + b"\n", b"7\n"])
    @pytest.mark.parametrize("judge", [read, Validator])
    def test_of_one_pattern_need_no_memory(self, judge, pattern):
        source = Endless(pattern, 3 * MEBIBYTE, raw.content(RIGHT[:3]))

        count, peak = peak_of(lambda: sum(1 for _ in judge(source)))

        assert count > 0
        assert peak < 2 * MEBIBYTE

    def test_of_addenda_after_one_entry_are_counted_and_not_kept(self):
        beginning = raw.content([*RIGHT[:2], raw.entry(indicator="1")])
        source = Endless(raw.content([raw.addenda_05()]), 95 * 20_000, beginning)

        found, peak = peak_of(lambda: list(read(source)))

        codes = [event.code for event in found if isinstance(event, Fault)]
        assert "addenda_too_many" in codes
        assert peak < MEBIBYTE

    def test_of_faults_end_the_reading(self):
        lines = [RIGHT[0]] + ["?"] * 5_000

        assert len(faults(lines)) == FILE_FAULTS_MAX + 1
        assert faults(lines)[-1] == (FILE_FAULTS_MAX + 1, "too_many_faults")
        assert len(judged(lines)) == FAULTS_MAX + 1
        assert judged(lines)[-1] == (FAULTS_MAX + 1, "too_many_faults")

    def test_of_records_to_look_at_do_not_end_it(self):
        batch = [
            line
            for number in range(2_000)
            for line in (
                raw.entry(number, code="26", indicator="1"),
                raw.addenda_99(f"{raw.ODFI}{number:07d}", code="R97"),
            )
        ]
        lines = raw.file(raw.batch(*batch))

        assert len(entries(lines)) == len(faults(lines)) == 2_000


class TestBytes:
    @pytest.mark.parametrize("byte", [0, 7, 0x1A, 0x7F, 0x80, 0xA0, 0xE9, 0xFF])
    def test_that_are_no_printable_ascii_are_named_with_their_place(self, byte):
        data = bytearray(raw.content(RIGHT))
        data[2 * 95 + 60] = byte

        (found,) = (event for event in events(bytes(data)) if isinstance(event, Fault))

        assert found == (3, "characters", "position 61 is not printable ASCII", Scope.RECORD)

    def test_in_utf_8_make_a_record_too_long(self):
        lines = raw.file(raw.batch(raw.entry(name="JOSÉ")))
        data = raw.content(lines).decode("latin-1").encode()

        assert faults(data)[0] == (3, "record_long")

    @pytest.mark.parametrize("end", ["\n", "\r\n", ""])
    def test_of_which_one_is_missing_are_named(self, end):
        data = raw.content(raw.return_file(), end)
        for place in (1, 100, 97 + 30, 2 * 96 + 3, 2 * 96 + 85, 3 * 96 + 10, 4 * 96 + 15):
            assert faults(data[:place] + data[place + 1 :]), place

    @pytest.mark.parametrize("end", ["\n", "\r\n", ""])
    def test_of_which_one_is_too_many_are_named(self, end):
        data = raw.content(raw.return_file(), end)
        for place in (1, 100, 97 + 30, 2 * 96 + 3, 2 * 96 + 85, 3 * 96 + 10, 4 * 96 + 15):
            assert faults(data[:place] + b"0" + data[place:]), place

    def test_that_end_too_early_are_named_wherever(self):
        data = raw.content(RIGHT, end="\n")
        control = data.index(b"\n9") + 1

        for length in range(control + 55):  # what follows in that record is blank
            assert faults(data[:length]), length

    @given(st.binary(max_size=2_000))
    def test_at_random_have_a_fault_and_raise_nothing(self, data):
        assert faults(data)
        assert judged(data)

    @given(st.randoms(use_true_random=False), st.integers(1, 30))
    def test_changed_in_a_right_file_raise_nothing(self, chance: random.Random, count):
        data = bytearray(raw.content(raw.return_file()))
        for _ in range(count):
            data[chance.randrange(len(data))] = chance.choice(b"\0\n\r 1567890ARC\xff")

        events(bytes(data))
        judged(bytes(data))


class TestImpossible:
    @pytest.mark.parametrize(
        ("lines", "found"),
        [
            (raw.return_file(died="260230"), [(4, "date_of_death_invalid")]),
            (raw.return_file(original=" " * 15), [(4, "original_entry_trace_number_invalid")]),
            (raw.return_file(code="r01"), [(4, "return_reason_code_invalid")]),
            (raw.return_file(kind="97"), [(4, "addenda_type_unknown")]),
            (raw.noc_file(data=""), [(4, "corrected_data_blank")]),
        ],
    )
    def test_fields_of_what_comes_back_are_named(self, lines, found):
        assert faults(lines) == found
        assert [fault.code for entry in entries(lines) for fault in entry.faults] == [found[0][1]]

    def test_a_date_in_the_header_takes_the_header_away(self):
        lines = raw.file(raw.batch(raw.entry()), header=raw.file_header(day="260230"))

        assert faults(lines) == [(1, "file_creation_date_invalid")]
        assert items(lines)[0].line == 2

    def test_an_effective_date_leaves_the_batch(self):
        lines = raw.file(raw.batch(raw.entry(), effective="260230"))

        assert faults(lines) == [(2, "effective_entry_date_invalid")]
        assert items(lines)[1].record.effective_entry_date is None

    def test_a_batch_header_takes_its_entries_away(self):
        lines = raw.changed(RIGHT, 2, 88, "X")

        assert faults(lines) == [(2, "batch_number_invalid")]
        assert [entry.line for entry in entries(lines)] == [8, 9, 12]

    def test_forward_and_return_in_one_batch_is_told_at_the_first_other_one(self):
        trace = f"{raw.ODFI}0000002"
        back = raw.entry(2, code="26", indicator="1")
        lines = raw.file(raw.batch(raw.entry(), back, raw.addenda_99(trace), raw.entry(3)))

        assert faults(lines) == [(4, "forward_and_return_mixed")]

    def test_a_return_twice_in_one_file_is_read_twice_and_noted(self):
        lines = raw.return_file()
        batch = lines[1:5]
        again = raw.file(
            batch, [line[:87] + "0000002" if line[0] in "58" else line for line in batch]
        )

        assert [entry.line for entry in entries(again)] == [3, 7]
        assert faults(again) == []

    def test_details_hold_no_account_and_no_name(self):
        lines = raw.file(
            raw.batch(raw.entry(account="SECRET-1", name="SECRET NAME", check="1", trace="1" * 15))
        )

        details = [event.detail for event in events(lines) if isinstance(event, Fault)]
        details += [fault.detail for fault in Validator(BytesIO(raw.content(lines)))]
        assert len(details) > 3
        assert "SECRET" not in " ".join(details)
