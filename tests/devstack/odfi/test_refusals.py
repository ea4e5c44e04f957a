"""Everything that an operator refuses, by name: files, batches, entries."""

from __future__ import annotations

import pytest

from tests.devstack.odfi.paper import (
    ROUTING,
    Batch,
    Entry,
    File,
    answers,
    changed,
    join,
    remittance,
)

# The lines of a file of one batch with one entry.
HEADER, BATCH, ENTRY, CONTROL, END = 1, 2, 3, 4, 5


def of_kind(lines, kind):
    return [line for line in lines if line["type"] == kind]


def codes(line):
    return {reason["code"] for reason in line["reasons"]}


def a_file(*batches: Batch) -> list[str]:
    return File(list(batches) or [Batch()]).lines()


def without(lines, number):
    """Without one line, and padded to whole blocks again."""
    return [*lines[: number - 1], *lines[number:], "9" * 94]


class TestWholeFiles:
    @pytest.mark.parametrize(
        ("line", "position", "text", "code"),
        [
            (HEADER, 2, "02", "priority_code"),
            (HEADER, 4, " 021000021", "destination_unknown"),
            (HEADER, 14, "1111111111", "sender_unknown"),
            (HEADER, 24, "260230", "file_date_invalid"),
            (HEADER, 30, "2460", "file_time_invalid"),
            (HEADER, 34, "a", "file_id_modifier"),
            (HEADER, 34, "-", "file_id_modifier"),
            (HEADER, 35, "093", "record_size_field"),
            (HEADER, 38, "11", "blocking_factor"),
            (HEADER, 40, "2", "format_code"),
            (HEADER, 41, "\x01", "characters"),
            (HEADER, 1, "5", "record_order"),
            (BATCH, 1, "4", "record_type_unknown"),
            (BATCH, 1, "\x00", "record_type_unknown"),
            (ENTRY, 1, "5", "record_order"),
            (ENTRY, 1, "7", "record_order"),
            (CONTROL, 1, "9", "record_order"),
            (END, 2, "000002", "file_batch_count"),
            (END, 8, "000002", "file_block_count"),
            (END, 14, "00000002", "file_entry_count"),
            (END, 22, "0000000001", "file_hash"),
            (END, 32, "000000012346", "file_debit_total"),
            (END, 44, "000000000001", "file_credit_total"),
            (END, 44, "00000000000A", "file_credit_total"),
            (END + 1, 1, "8", "record_order"),
        ],
    )
    def test_are_refused_for_one_wrong_field(self, shared, line, position, text, code):
        lines = changed(a_file(), line, position, text)

        file = shared.send(join(lines))[0]

        assert file["verdict"] == "rejected"
        assert code in codes(file)
        assert file["accepted"] == {"entries": 0, "debit": 0, "credit": 0}
        (reason, *_) = [each for each in file["reasons"] if each["code"] == code]
        assert reason["line"] == line

    @pytest.mark.parametrize(
        ("content", "code", "line"),
        [
            (b"", "unreadable", 1),
            (b"\x00" * 940, "record_type_unknown", 1),
            (join(a_file())[:-95], "block_size_wrong", 9),
            (join(a_file())[1:], "record_size_wrong", 1),
            (join(a_file())[:300] + join(a_file())[301:], "record_size_wrong", 4),
            (join(without(a_file(), 1)), "record_order", 1),
            (join(without(a_file(), 2)), "record_order", 2),
            (join(without(a_file(), 4)), "record_order", 4),
            (join(without(a_file(), 5)), "record_order", 5),
            (join(["9" * 94] * 10), "record_order", 1),
            ("".join(line.rstrip() + "\n" for line in a_file()).encode(), "record_size_wrong", 1),
            ("".join(a_file()).encode()[:-1], "record_size_wrong", 10),
        ],
    )
    def test_are_refused_when_they_cannot_be_read(self, shared, content, code, line):
        file = shared.send(content)[0]

        assert file["verdict"] == "rejected"
        assert (file["reasons"][-1]["code"], file["reasons"][-1]["line"]) == (code, line)

    @pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
    def test_may_end_lines_as_they_like(self, shared, ending):
        content = "".join(line + ending for line in a_file()).encode()

        assert shared.send(content)[0]["verdict"] == "accepted"

    def test_may_end_an_unbroken_string_with_a_line_end(self, shared):
        assert shared.send("".join(a_file()).encode() + b"\r\n")[0]["verdict"] == "accepted"

    def test_are_refused_the_second_time(self, shared):
        file = File()
        other = File(date=file.date, time=file.time, modifier="B")

        first = shared.send(file.bytes())[0]
        again = shared.send(file.bytes())[0]
        same_name = File([Batch([Entry(amount=1)])], date=file.date, time=file.time)
        changed_since = shared.send(same_name.bytes())[0]

        assert first["verdict"] == "accepted"
        assert (again["verdict"], codes(again)) == ("rejected", {"duplicate_file"})
        assert codes(changed_since) == {"duplicate_file"}
        assert shared.send(other.bytes())[0]["verdict"] == "accepted"

    def test_that_were_refused_may_come_again(self, shared):
        lines = a_file()

        refused = shared.send(join(changed(lines, END, 32, "000000012346")))[0]
        corrected = shared.send(join(lines))[0]

        assert (refused["verdict"], corrected["verdict"]) == ("rejected", "accepted")

    def test_are_refused_when_they_are_too_large(self, bank):
        bank.ask("terms", file_bytes_max=949)

        assert codes(bank.send(join(a_file()))[0]) == {"file_too_large"}

    def test_that_are_refused_move_nothing(self, bank):
        lines = a_file(Batch([Entry(account="10001")]))
        bank.send(join(changed(lines, END, 32, "000000012346")))

        bank.days(3)

        assert bank.entries() == []
        assert bank.fetch() == {}
        assert bank.balance == 100_000_000


class TestBatches:
    @pytest.mark.parametrize(
        ("line", "position", "text", "code"),
        [
            (BATCH, 5, "\x80", "characters"),
            (BATCH, 2, "280", "service_class_invalid"),
            (BATCH, 2, "200", "service_class_differs"),
            (BATCH, 5, " " * 16, "company_name_blank"),
            (BATCH, 41, "0" * 10, "company_id_blank"),
            (BATCH, 51, "XXX", "sec_invalid"),
            (BATCH, 51, "ccd", "sec_invalid"),
            (BATCH, 51, "IAT", "international_not_supported"),
            (BATCH, 54, " " * 10, "company_description_blank"),
            (BATCH, 54, "reversal  ", "description_lower_case"),
            (BATCH, 76, "338", "settlement_date_not_blank"),
            (BATCH, 79, "0", "originator_status"),
            (BATCH, 80, "02100002", "odfi_unknown"),
            (BATCH, 88, "000000A", "batch_number_not_numeric"),
            (ENTRY, 55, "\t", "characters"),
            (ENTRY, 80, "02100002", "trace_prefix"),
            (ENTRY, 88, "00000A1", "trace_prefix"),
            (CONTROL, 2, "200", "service_class_differs"),
            (CONTROL, 5, "000002", "batch_entry_count"),
            (CONTROL, 11, "0000000001", "batch_hash"),
            (CONTROL, 21, "000000012346", "batch_debit_total"),
            (CONTROL, 33, "000000000001", "batch_credit_total"),
            (CONTROL, 45, "1111111111", "company_id_differs"),
            (CONTROL, 80, "02100002", "odfi_differs"),
            (CONTROL, 88, "0000002", "batch_number_differs"),
        ],
    )
    def test_are_refused_for_one_wrong_field(self, shared, line, position, text, code):
        """The file has another batch, which is taken."""
        lines = a_file(Batch([Entry()]), Batch([Entry()]))
        lines = changed(lines, line, position, text)

        found = shared.send(join(lines))

        first, second = of_kind(found, "batch")
        assert (first["verdict"], second["verdict"]) == ("rejected", "accepted")
        assert code in codes(first)
        assert second["reasons"] == []

    @pytest.mark.parametrize(
        ("position", "text", "code"),
        [
            (2, "20", "transaction_code_invalid"),
            (2, "22", "transaction_code_not_for_service_class"),
            (30, "00000123.5", "amount_not_numeric"),
            (30, "       123", "amount_not_numeric"),
        ],
    )
    def test_are_named_in_a_file_whose_totals_are_wrong_with_them(
        self, shared, position, text, code
    ):
        lines = changed(a_file(Batch([Entry()]), Batch([Entry()])), ENTRY, position, text)

        found = shared.send(join(lines))

        assert "file_debit_total" in codes(found[0])
        assert code in codes(of_kind(found, "batch")[0])

    @pytest.mark.parametrize(
        ("batch", "code"),
        [
            (Batch([Entry(code="22")]), "for_service_class"),
            (Batch([Entry(code="24", amount=0)], service_class="220", sec="PPD"), "for_sec"),
            (Batch([Entry()], sec="COR"), "for_sec"),
            (Batch([Entry(trace=ROUTING[:8] + "0000009")] * 2), "trace_not_ascending"),
        ],
    )
    def test_are_refused_for_what_does_not_fit(self, shared, batch, code):
        found = shared.send(join(a_file(batch)))

        (refused,) = of_kind(found, "batch")
        assert any(each.endswith(code) for each in codes(refused))
        assert found[0]["verdict"] == "part_rejected"

    def test_are_refused_without_entries(self, shared):
        lines = a_file(Batch([]), Batch())

        found = shared.send(join(lines))

        assert codes(of_kind(found, "batch")[0]) == {"batch_order"}

    def test_are_refused_with_forward_entries_and_returns(self, shared):
        forward, returned = Entry(), Entry(code="26")
        returned.addenda = [f"799R68{forward.trace}{'':6}02100002{'':44}{returned.trace}"]

        found = shared.send(join(a_file(Batch([forward, returned]))))

        assert codes(of_kind(found, "batch")[0]) == {"forward_and_return_mixed"}

    def test_are_refused_for_companies_that_nobody_agreed_on(self, bank):
        bank.ask("terms", company_ids=["1111111111"])

        found = bank.send(join(a_file()))

        assert codes(of_kind(found, "batch")[0]) == {"company_unknown"}

    def test_that_are_refused_move_nothing(self, bank):
        bad, good = Entry(account="10001", amount=7), Entry(amount=500)
        lines = changed(a_file(Batch([bad]), Batch([good])), BATCH, 79, "0")

        file = bank.send(join(lines))[0]
        bank.days(3)

        assert file["verdict"] == "part_rejected"
        assert (file["debit"], file["accepted"]["debit"]) == (507, 500)
        assert [each["status"] for each in bank.entries()] == ["rejected", "settled"]
        assert bank.balance == 100_000_500
        assert bank.fetch() == {}


class TestEntries:
    @pytest.mark.parametrize(
        ("batch", "code"),
        [
            (Batch([Entry(rdfi="061000133")]), "R13"),
            (Batch([Entry(rdfi="990000000")]), "R13"),
            (Batch(effective="351210"), "R18"),
            (Batch([Entry(code="28", amount=5)]), "R19"),
            (Batch([Entry(amount=0)]), "R19"),
            (Batch([Entry(indicator="1")]), "R25"),
            (Batch([Entry(rdfi="021000022")]), "R28"),
            (Batch([Entry(rdfi="061000324")]), "R32"),
            (Batch([Entry(rdfi="061000340")]), "R34"),
            (Batch([Entry(code="55")]), "R35"),
            (Batch([Entry()], sec="CIE"), "R35"),
            (Batch([Entry(code="22", discretionary="S")], "TEL", "220"), "R36"),
            (Batch([Entry(name="", discretionary="S")], "WEB"), "R26"),
            (Batch([Entry(discretionary="")], "WEB"), "R26"),
            (Batch([Entry(account="")]), "R26"),
        ],
    )
    def test_come_back_by_the_operator(self, shared, batch, code):
        (entry,) = batch.entries

        found = shared.send(join(a_file(batch)))

        assert found[0]["verdict"] == "part_rejected"
        (line,) = of_kind(found, "entry")
        assert (line["trace"], line["status"], line["code"]) == (entry.trace, "rejected", code)
        (held,) = shared.entries(trace=entry.trace)[-1:]
        assert [each["code"] for each in held["answers"]] == [code]
        assert held["answers"][0]["effect"] == -held["effect"]

    @pytest.mark.parametrize(
        "make",
        [
            lambda trace: remittance(trace, kind="02"),
            lambda trace: remittance(trace, number=2),
            lambda trace: remittance("000000000000000"),
        ],
    )
    def test_come_back_for_wrong_addenda(self, shared, make):
        entry = Entry()
        entry.addenda = [make(entry.trace)]

        found = shared.send(join(a_file(Batch([entry]))))

        assert [each["code"] for each in of_kind(found, "entry")] == ["R25"]

    def test_come_back_with_too_many_addenda(self, shared):
        entry = Entry()
        entry.addenda = [remittance(entry.trace), remittance(entry.trace, number=2)]

        found = shared.send(join(a_file(Batch([entry]))))

        assert [each["code"] for each in of_kind(found, "entry")] == ["R25"]

    def test_may_have_one_addenda_record(self, shared):
        entry = Entry()
        entry.addenda = [remittance(entry.trace)]

        found = shared.send(join(a_file(Batch([entry]))))

        assert found[0]["verdict"] == "accepted"
        assert found[0]["entries_and_addenda"] == 2

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"indicator": "0"}, "R26"),
            ({"addenda": ["798" + "C61".ljust(91)]}, "R26"),
            ({"addenda": ["799R68" + "0" * 15 + " " * 73]}, "R27"),
        ],
    )
    def test_that_answer_need_their_addenda(self, shared, changes, code):
        entry = Entry(code="26", addenda=["799R68" + "1" * 15 + " " * 73])
        vars(entry).update(changes)

        found = shared.send(join(a_file(Batch([entry]))))

        assert [each["code"] for each in of_kind(found, "entry")] == [code]

    def test_reach_the_customer_in_the_next_delivery(self, bank):
        good, bad = Entry(amount=300), Entry(amount=200, rdfi="021000022")
        bank.send(join(a_file(Batch([good, bad]))))

        bank.go_to("2035-12-03 12:01")
        ((_, content),) = bank.fetch().items()
        bank.go_to("2035-12-04 09:00")

        (answer,) = answers(content)
        assert (answer.code, answer.original_trace, answer.amount) == ("R28", bad.trace, 200)
        assert answer.settled == "338"
        assert bank.balance == 100_000_300
        assert [(each["kind"], each["amount"]) for each in bank.ask("postings")] == [
            ("settlement", 500),
            ("return", -200),
        ]
