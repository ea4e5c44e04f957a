"""Files that banks send and files that nobody should: named faults with their lines, nothing half
applied, and no traceback."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from networks.ach.inbound import deciding, parsing, reading, surveying
from networks.ach.models import AchEvent, AchRail, InFile, InRecord
from networks.ach.models.inbound import InFolder
from networks.ach.states import InFileStatus
from tests.networks.ach.inbound.builders import (
    NOW,
    RDFI,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    records,
    returned,
    store,
    take,
    told,
)
from tests.networks.ach.nacha import raw

pytestmark = pytest.mark.django_db


def codes(file):
    return [(fault["line"], fault["code"]) for fault in file.faults if fault["scope"] != "note"]


def right(entry):
    """The eight records of a file with one return, filled up to ten."""
    return answer_file(answer_batch(*returned(entry)))


class TestHowBanksWriteThem:
    @pytest.mark.parametrize(
        "write",
        [
            lambda lines: raw.content(lines, end="\r\n"),
            lambda lines: raw.content(lines, end=""),
            lambda lines: raw.content([line.rstrip() for line in lines]),
            lambda lines: raw.content([line + "   " for line in lines]),
            lambda lines: raw.content(lines[:-4]),
        ],
        ids=["crlf", "unbroken", "trimmed", "blanks added", "not filled"],
    )
    def test_changes_nothing(self, entry, write):
        file = take(write(right(entry)))

        assert (file.status, codes(file)) == ("applied", [])
        assert told(entry) == [("returned", "R01")]


class TestWhatSetsTheFileAside:
    def assert_set_aside(self, entry, file, *expected):
        assert (file.status, file.next_attempt_at) == ("review", None)
        assert set(expected) <= set(codes(file))
        assert not InRecord.objects.exists()
        assert told(entry) == [("settled", ""), ("final", "")]

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            (lambda lines: lines[1:], (1, "file_header_missing")),
            (lambda lines: lines[:5], (5, "file_control_missing")),
            (lambda lines: raw.changed(lines, 6, 14, "00000009"), None),
            (lambda lines: raw.changed(lines, 6, 22, "0000000009"), None),
            (lambda lines: raw.changed(lines, 6, 32, "000000015001"), None),
            (lambda lines: raw.changed(lines, 6, 2, "000002"), (6, "batch_count_wrong")),
            (lambda lines: raw.changed(lines, 6, 8, "000002"), (6, "block_count_wrong")),
            (lambda lines: [*lines[:6], lines[2], *lines[6:]], (7, "record_after_file_control")),
            (lambda lines: raw.changed(lines, 1, 24, "260230"), (1, "file_creation_date_invalid")),
            (lambda lines: [lines[0], lines[0], *lines[1:]], (2, "file_header_repeated")),
            (lambda lines: [lines[0], lines[2], *lines[2:]], (2, "record_order")),
            (lambda lines: raw.changed(lines, 3, 1, "X"), (3, "record_type_unknown")),
        ],
    )
    def test_is_named_with_its_line(self, entry, change, fault):
        file = take(raw.content(change(right(entry))))

        self.assert_set_aside(entry, file, *([fault] if fault else []))
        assert codes(file)

    def test_is_one_missing_byte_of_an_unbroken_string(self, entry):
        data = raw.content(right(entry), end="")

        file = take(data[:300] + data[301:])

        self.assert_set_aside(entry, file)
        assert "framing_lost" in [code for _, code in codes(file)]

    def test_is_half_a_file_whose_other_half_comes_later(self, entry):
        data = raw.content(right(entry))

        half = take(data[: len(data) // 2])

        self.assert_set_aside(entry, half)
        whole = take(data)
        assert whole.status == "applied"
        assert told(entry) == [("returned", "R01")]

    @pytest.mark.parametrize(
        "data",
        [
            b"\0" * 1000,
            b"\xff\xfe" * 470,
            b"\n" * 5000,
            b"not a file of a bank",
            b"{}",
            "1 Zürich".encode() * 20,
            b"9" * 94,
            b"1" * 5_000_000,
        ],
        ids=["NULs", "UTF-16", "empty lines", "text", "JSON", "umlauts", "fill", "5 MB of 1"],
    )
    def test_is_no_file_of_a_bank(self, entry, data):
        self.assert_set_aside(entry, take(data))

    def test_is_let_pass_where_the_rail_says_so(self, db):
        make_rail("lax", excused_faults=("file_header_missing", "batch_count_wrong"))
        entry = make_entry(make_batch(AchRail.objects.get(pk="lax")))
        lines = right(entry)[1:]

        file = take(raw.content(lines), rail="lax")

        assert (file.status, codes(file)) == ("applied", [(1, "file_header_missing")])
        assert file.faults[0]["excused"] is True
        assert told(entry) == [("returned", "R01")]

    def test_is_read_again_when_a_person_excuses_it(self, entry):
        file = take(raw.content(right(entry)[:5]))
        assert file.status == "review"

        deciding.read_again(
            file_id=file.pk, staff="anna", why="the bank confirmed it", excuse=True, now=NOW
        )
        reading.read_due(now=NOW)

        file.refresh_from_db()
        assert file.status == "applied"
        assert told(entry) == [("returned", "R01")]

    def test_is_left_when_a_person_says_so(self, entry):
        file = take(raw.content(right(entry)[:5]))

        deciding.resolve_file(file_id=file.pk, staff="anna", why="a test of the bank's", now=NOW)

        file.refresh_from_db()
        assert (file.status, file.resolved_by) == ("resolved", "anna")
        assert told(entry) == [("settled", ""), ("final", "")]


class TestWhatSetsABatchAside:
    def two_batches(self, rail, change):
        """A bad batch and a good one."""
        bad, good = make_entry(make_batch(rail), 1), make_entry(make_batch(rail), 2)
        first = answer_batch(*returned(bad))
        second = answer_batch(*returned(good), number="0000002")
        return bad, good, answer_file(change(first), second)

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            (lambda b: raw.changed(b, 4, 5, "000009"), (5, "batch_entry_addenda_count_wrong")),
            (lambda b: raw.changed(b, 4, 21, "000000099999"), (5, "batch_total_debit_wrong")),
            (lambda b: raw.changed(b, 4, 45, "9876543210"), (5, "company_identification_differs")),
            (lambda b: raw.changed(b, 4, 88, "0000007"), (5, "batch_number_differs")),
            (lambda b: raw.changed(b, 1, 2, "300"), (2, "service_class_code_unknown")),
            (lambda b: b[:3], (5, "batch_control_missing")),
        ],
    )
    def test_leaves_its_records_out_and_no_others(self, rail, change, fault):
        bad, good, lines = self.two_batches(rail, change)

        file = take(raw.content(lines))

        assert fault in codes(file)
        assert file.status == "review"
        assert [status for _, status, _ in records(file)] == ["applied"]
        assert told(bad) == [("settled", ""), ("final", "")]
        assert told(good) == [("returned", "R01")]

    @pytest.mark.parametrize(
        ("sec", "fault"),
        [
            ("IAT", "international_not_supported"),
            ("ADV", "adv_not_supported"),
            ("CTX", "sec_not_supported"),
            ("XYZ", "standard_entry_class_code_unknown"),
        ],
    )
    def test_is_a_class_that_is_not_read(self, rail, sec, fault):
        bad, good, lines = self.two_batches(rail, lambda b: raw.changed(b, 1, 51, sec))

        file = take(raw.content(lines))

        assert (2, fault) in codes(file)
        assert file.status == "review"
        assert [status for _, status, _ in records(file)] == ["applied"]
        assert told(bad) == [("settled", ""), ("final", "")]
        assert told(good) == [("returned", "R01")]

    def test_is_a_forward_entry_among_returns(self, rail, entry):
        stray = raw.entry(trace=f"{RDFI}9999999", rdfi="09100001", check="9")

        file = take(answer_file(answer_batch(*returned(entry), stray)))

        assert (5, "forward_and_return_mixed") in codes(file)
        assert (file.status, records(file)) == ("review", [])
        assert told(entry) == [("settled", ""), ("final", "")]

    def test_is_read_again_when_a_person_excuses_it(self, rail):
        bad, good, lines = self.two_batches(rail, lambda b: raw.changed(b, 4, 88, "0000007"))
        file = take(raw.content(lines))

        deciding.read_again(
            file_id=file.pk, staff="anna", why="the bank confirmed it", excuse=True, now=NOW
        )
        reading.read_due(now=NOW)

        file.refresh_from_db()
        assert file.status == "applied"
        assert [status for _, status, _ in records(file)] == ["applied", "applied"]
        assert (told(bad), told(good)) == ([("returned", "R01")], [("returned", "R01")])

    def test_comes_again_corrected(self, rail):
        bad, _, lines = self.two_batches(rail, lambda b: b)
        take(raw.content(raw.changed(lines, 5, 88, "0000007")))
        assert told(bad) == [("settled", ""), ("final", "")]

        file = take(raw.content(lines))

        assert file.status == "applied"
        assert told(bad) == [("returned", "R01")]

    def test_of_a_record_is_another_ones_no_matter(self, batch):
        bad, good = make_entry(batch, 1), make_entry(batch, 2)
        first = returned(bad)
        cut = [raw.changed(first, 1, 12, "0")[0], first[1]]  # a wrong check digit

        file = take(answer_file(answer_batch(*cut, *returned(good))))

        assert (file.status, codes(file)) == ("applied", [(3, "check_digit_wrong")])
        assert records(file) == [
            (3, "review", "faults: check_digit_wrong"),
            (5, "applied", ""),
        ]
        assert told(bad) == [("settled", ""), ("final", "")]


class TestOtherThings:
    def test_are_left_to_a_person(self, rail):
        """A prenote, a debit, a dishonor and a refusal: nothing that we ever asked for."""
        trace = f"{RDFI}0000077"
        ours = {"rdfi": "09100001", "check": "9"}
        back = raw.entry(code="26", indicator="1", trace=trace, **ours)
        zero = raw.entry(code="26", indicator="1", trace=trace, amount=0, **ours)
        batches = [
            answer_batch(raw.entry(code="28", amount=0, trace=f"{RDFI}0000001", **ours)),
            answer_batch(raw.entry(trace=f"{RDFI}0000002", **ours), number="0000002"),
            answer_batch(back, raw.dishonored(trace), number="0000003"),
            change_batch(zero, raw.refused(trace), number="0000004"),
        ]

        file = take(answer_file(*batches))

        kinds = InRecord.objects.filter(file=file).order_by("line").values_list("kind", "status")
        assert list(kinds) == [
            ("other", "review"),
            ("other", "review"),
            ("dishonored", "review"),
            ("refused_noc", "review"),
        ]
        assert (file.status, codes(file)) == ("applied", [])
        assert not AchEvent.objects.exists()

    def test_money_that_nobody_asked_for_is_told_and_left_to_a_person(self, rail):
        credit = raw.entry(
            code="22", rdfi="09100001", check="9", amount=25_00, trace=f"{RDFI}0000003"
        )

        sender = {"company": "ACME REBATES", "company_id": "9876543210"}
        file = take(answer_file(answer_batch(credit, service_class="220", **sender)))

        record = InRecord.objects.get(file=file)
        assert (record.kind, record.status) == ("received", "review")
        assert (record.information, record.company_id) == ("ACME REBATES", "9876543210")
        event = AchEvent.objects.get()
        assert (event.kind, event.amount, event.instruction_id) == ("received", 25_00, "")
        assert event.acknowledged  # nobody waits for it
        assert event.record == record
        assert record.due_on == date(2026, 11, 27)


class TestADeath:
    def test_between_two_thousands_loses_nothing(self, batch, monkeypatch):
        monkeypatch.setattr(parsing, "RECORDS_TOGETHER", 2)
        entries = [make_entry(batch, number) for number in range(1, 6)]
        pairs = [line for entry in entries for line in returned(entry)]
        file = store(answer_file(answer_batch(*pairs)))

        stopped = parsing.parse(file, excused=(), is_over=lambda: True, now=NOW)

        assert stopped is False
        assert InRecord.objects.count() == 2
        assert InFile.objects.get().status == InFileStatus.STORED
        assert parsing.parse(file, excused=(), now=NOW) is True
        lines = InRecord.objects.order_by("id").values_list("line", flat=True)
        assert list(lines) == [3, 5, 7, 9, 11]

    def test_keeps_what_was_found_before_it(self, batch, monkeypatch):
        monkeypatch.setattr(parsing, "RECORDS_TOGETHER", 1)
        one, other = make_entry(batch, 1), make_entry(batch, 2)
        trace = f"{RDFI}9999999"
        pairs = [*returned(one, trace=trace), *returned(other, trace=trace), *returned(other)]
        file = store(answer_file(answer_batch(*pairs)))
        calls = iter([False, True])

        parsing.parse(file, excused=(), is_over=lambda: next(calls), now=NOW)
        file = InFile.objects.get()
        parsing.parse(file, excused=(), now=NOW)

        found = [fault["line"] for fault in file.faults if fault["code"] == "rdfi_trace_reused"]
        assert found == [5]
        assert surveying.needs_person(InFile.objects.get().faults)


class TestAnyByte:
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(place=st.integers(0, 949), byte=st.integers(0, 255))
    def test_that_is_another_one_is_found_or_is_no_matter(self, rail, place, byte):
        entry = make_entry(
            make_batch(rail), place * 256 + byte + 1, instruction_id=f"{place}-{byte}"
        )
        data = bytearray(raw.content(right(entry)))
        data[place % len(data)] = byte

        file = take(bytes(data), name="changed.ach")

        assert file.status in {"applied", "review"}
        entry.refresh_from_db()
        is_back = entry.status == "returned"
        assert is_back == (("returned", entry.code) in told(entry))
        if is_back:
            assert (entry.amount, len(told(entry))) == (150_00, 1)


def test_an_upload_is_read_like_a_fetched_file(entry):
    file = take(right(entry), name="from-the-portal.txt", folder=InFolder.INBOUND)

    assert file.status == "applied"


def test_notes_do_not_name_accounts(entry):
    file = take(answer_file(answer_batch(*returned(entry, account="999-8888-77"))))
    other = take(answer_file(change_batch(*changed(entry, account="999-8888-77"))))

    for each in (file, other):
        assert "8888" not in str(records(each)) + str(each.faults)
