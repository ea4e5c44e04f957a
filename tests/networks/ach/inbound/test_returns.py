from __future__ import annotations

from datetime import date

import pytest

from networks.ach.inbound import matching
from networks.ach.models import AchEvent, InFile, InRecord
from networks.ach.states import EntryStatus
from networks.return_codes import ALL, is_ach_return
from tests.networks.ach.inbound.builders import (
    NOW,
    ODFI,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    make_rail,
    records,
    returned,
    take,
    told,
)

pytestmark = pytest.mark.django_db

NOTHING_MOVED = [("settled", ""), ("final", "")]


def take_returns(*pairs, **header):
    return take(answer_file(answer_batch(*(line for pair in pairs for line in pair), **header)))


def status_of(entry):
    entry.refresh_from_db()
    return entry.status


class TestAReturn:
    def test_sends_its_entry_back_and_voids_the_rest(self, entry):
        file = take_returns(returned(entry, "R01"))

        assert (file.status, file.faults, file.next_attempt_at) == ("applied", [], None)
        entry.refresh_from_db()
        assert (entry.status, entry.code, entry.ended_at) == ("returned", "R01", NOW)
        assert told(entry) == [("returned", "R01")]
        event = AchEvent.objects.get(kind="returned")
        assert (event.instruction_id, event.amount) == (entry.instruction_id, entry.amount)
        assert (event.reason, event.due_at) == ("Insufficient funds", NOW)
        assert event.settlement_date == date(2026, 11, 25)

    def test_is_kept_with_what_it_says_and_as_it_came(self, entry):
        lines = returned(entry, "R03")

        record = InRecord.objects.get(file=take_returns(lines))

        assert (record.kind, record.code, record.line) == ("return", "R03", 3)
        assert (record.status, record.note, record.entry) == ("applied", "", entry)
        assert record.settlement_day == date(2026, 11, 25)
        assert (record.original_trace, record.amount) == (entry.trace_number, entry.amount)
        assert record.account_last4 == "8-99"
        assert "744-5678-99" not in record.raw_token
        assert matching.raw(record).split("\n") == lines

    @pytest.mark.parametrize("status", ["sent", "accepted", "final"])
    def test_comes_at_any_time_after_the_entry_was_sent(self, batch, status):
        entry = make_entry(batch, status=status)

        take_returns(returned(entry))

        assert status_of(entry) == EntryStatus.RETURNED

    def test_after_its_time_is_applied_and_marked(self, batch):
        entry = make_entry(batch, settled=date(2026, 11, 20), status="final")

        record = InRecord.objects.get(file=take_returns(returned(entry, "R02")))

        assert status_of(entry) == EntryStatus.RETURNED
        assert (record.status, record.may_dishonor) == ("applied", True)
        assert record.due_on == date(2026, 12, 3)

    def test_of_a_consumer_is_in_time_for_sixty_days(self, batch):
        entry = make_entry(batch, settled=date(2026, 9, 25), status="final")

        record = InRecord.objects.get(file=take_returns(returned(entry, "R10")))

        assert (record.status, record.may_dishonor, record.due_on) == ("applied", False, None)

    def test_keeps_what_was_told_already(self, entry):
        AchEvent.objects.filter(kind="settled").update(acknowledged=True)

        take_returns(returned(entry))

        assert told(entry) == [("settled", ""), ("returned", "R01")]

    def test_of_a_credit_sends_that_back(self, batch):
        entry = make_entry(batch, is_debit=False, transaction_code=32, purpose="payment")

        take_returns(returned(entry, "R23"), service_class="220")

        assert status_of(entry) == EntryStatus.RETURNED

    @pytest.mark.parametrize(
        "code", [code for code in ALL if is_ach_return(code) and not "R61" <= code <= "R77"]
    )
    def test_with_any_code_of_the_rules_counts(self, entry, code):
        file = take_returns(returned(entry, code))

        assert (file.status, file.faults) == ("applied", [])
        assert told(entry) == [("returned", code)]

    def test_with_a_code_that_nobody_knows_counts_and_is_named(self, entry):
        file = take_returns(returned(entry, "R97"))

        assert file.status == "applied"
        assert [(fault["line"], fault["code"]) for fault in file.faults] == [
            (4, "return_code_unknown")
        ]
        assert records(file) == [(3, "applied", "a return code that is not in the rules we know")]
        assert told(entry) == [("returned", "R97")]
        assert AchEvent.objects.get(kind="returned").reason == "Unknown code"

    def test_with_the_transaction_code_of_a_forward_entry_counts(self, entry):
        file = take_returns(_forward_code(entry))

        assert file.status == "applied"
        assert status_of(entry) == EntryStatus.RETURNED

    def test_across_new_year_settles_in_the_new_one(self, batch):
        entry = make_entry(batch, settled=date(2026, 12, 31))
        lines = answer_batch(*returned(entry), settlement="004")

        file = take(answer_file(lines, day="261231"))

        assert InRecord.objects.get(file=file).settlement_day == date(2027, 1, 4)
        assert status_of(entry) == EntryStatus.RETURNED


def _forward_code(entry):
    first, second = returned(entry)
    return [f"627{first[3:]}", second]


class TestTwice:
    def test_in_two_files_is_one_return_and_a_question(self, entry):
        take_returns(returned(entry, "R01"))

        file = take_returns(returned(entry, "R01"))

        ((_, status, note),) = records(file)
        assert (file.status, status) == ("applied", "review")
        assert "came back before" in note
        assert InRecord.objects.get(file=file).due_on == date(2026, 12, 3)
        assert told(entry) == [("returned", "R01")]

    def test_in_one_file_is_one_return_and_a_question(self, entry):
        file = take_returns(returned(entry, "R01"), returned(entry, "R02"))

        assert [status for _, status, _ in records(file)] == ["applied", "review"]
        assert told(entry) == [("returned", "R01")]

    def test_the_same_record_is_one_record(self, entry):
        pair = returned(entry)

        file = take_returns(pair, pair)

        assert (file.status, records(file)) == ("applied", [(3, "applied", "")])
        assert [fault["code"] for fault in file.faults] == ["trace_numbers_out_of_order"]
        assert told(entry) == [("returned", "R01")]

    def test_the_same_record_in_another_file_changes_nothing(self, entry):
        pair = returned(entry)
        take(answer_file(answer_batch(*pair)))

        again = take(answer_file(answer_batch(*pair), day="261127"))

        assert (again.status, records(again)) == ("applied", [])
        assert told(entry) == [("returned", "R01")]

    def test_the_same_trace_for_another_entry_goes_to_a_person(self, batch):
        one, other = make_entry(batch, 1), make_entry(batch, 2)
        trace = "090000519999999"

        file = take_returns(returned(one, trace=trace), returned(other, trace=trace))

        assert file.status == "review"
        assert "rdfi_trace_reused" in [fault["code"] for fault in file.faults]
        assert (status_of(one), status_of(other)) == ("returned", "accepted")

    def test_a_file_that_is_handed_out_twice_is_read_once(self, entry):
        lines = answer_file(answer_batch(*returned(entry)))

        first, second = take(lines), take(lines, name="again_returns.ach")

        assert first == second
        assert InFile.objects.count() == 1
        assert told(entry) == [("returned", "R01")]


class TestNoEntry:
    def assert_nothing_moved(self, entry, file, words):
        ((_, status, note),) = records(file)
        assert (file.status, status) == ("applied", "review")
        assert words in note
        assert InRecord.objects.get(file=file).due_on == date(2026, 12, 3)
        assert status_of(entry) == EntryStatus.ACCEPTED
        assert told(entry) == NOTHING_MOVED

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"amount": 149_99}, "has another amount"),
            ({"account": "744-5678-98"}, "has another account"),
            ({"account": "744-5678-98", "amount": 1}, "another account and another amount"),
        ],
    )
    def test_fits_what_differs(self, entry, changes, words):
        file = take_returns(returned(entry, **changes))

        self.assert_nothing_moved(entry, file, words)

    def test_has_the_trace(self, entry):
        first, second = returned(entry)
        other = second.replace(entry.trace_number, f"{ODFI}9999999")

        file = take_returns([first, other])

        self.assert_nothing_moved(entry, file, "no entry of ours has this trace number")

    def test_of_another_bank_is_meant(self, entry):
        first, second = returned(entry)

        file = take_returns([first, second[:27] + "02100002" + second[35:]])

        self.assert_nothing_moved(entry, file, "has another bank")

    def test_of_another_company_is_meant(self, entry):
        file = take_returns(returned(entry), company_id="9876543210")

        self.assert_nothing_moved(entry, file, "names another company")

    def test_of_another_rail_is_meant(self, entry):
        make_rail("other")

        file = take(answer_file(answer_batch(*returned(entry))), rail="other")

        self.assert_nothing_moved(entry, file, "no entry of ours has this trace number")

    def test_that_settles_later_is_meant(self, batch):
        entry = make_entry(batch, settled=date(2026, 11, 30))

        file = take_returns(returned(entry))

        self.assert_nothing_moved(entry, file, "too old, or settles later")

    @pytest.mark.parametrize(
        ("status", "note"),
        [("frozen", "was not sent"), ("requeued", "withdraw what took its place")],
    )
    def test_that_was_not_sent_is_meant(self, batch, status, note):
        entry = make_entry(batch, status=status, settled=None, accepted_at=None, sent_at=None)

        file = take_returns(returned(entry))

        assert note in records(file)[0][2]
        assert status_of(entry) == status

    def test_is_chosen_among_two(self, rail, batch):
        one = make_entry(batch)
        two = make_entry(make_batch(rail), instruction_id="ftx_two")

        file = take_returns(returned(one))

        assert "two entries of ours fit" in records(file)[0][2]
        assert (status_of(one), status_of(two)) == ("accepted", "accepted")

    def test_too_old_for_the_code_is_chosen_before_a_young_one(self, rail, batch):
        old = make_entry(batch, settled=date(2026, 11, 2), status="final")
        young = make_entry(make_batch(rail), instruction_id="ftx_two")

        take_returns(returned(young))

        assert (status_of(old), status_of(young)) == ("final", "returned")


class TestARejectedEntry:
    def rejected(self, batch):
        return make_entry(batch, status="rejected", code="R13", accepted_at=None, ended_at=NOW)

    def test_that_comes_back_as_well_counts_once(self, batch):
        entry = self.rejected(batch)
        before = told(entry)

        file = take_returns(returned(entry, "R13"))

        assert records(file) == [(3, "applied", "the acknowledgment said so before")]
        assert InRecord.objects.get(file=file).entry == entry
        assert (status_of(entry), told(entry)) == (EntryStatus.REJECTED, before)

    def test_that_comes_back_for_another_reason_is_a_question(self, batch):
        entry = self.rejected(batch)

        file = take_returns(returned(entry, "R01"))

        assert records(file) == [(3, "review", "the acknowledgment rejected this entry with R13")]
        assert status_of(entry) == EntryStatus.REJECTED


class TestOddReturns:
    def test_of_a_micro_deposit_ends_that_entry_alone(self, batch):
        """Three entries are one verification, and come back one by one."""
        first, second = (
            make_entry(
                batch,
                number,
                instruction_id=f"ver_1.{number}",
                purpose="verification",
                description="ACCTVERIFY",
                is_debit=False,
                transaction_code=22,
                amount=number,
            )
            for number in (1, 2)
        )

        take_returns(returned(first, "R03"), service_class="220")

        assert (status_of(first), status_of(second)) == ("returned", "accepted")
        assert AchEvent.objects.get(kind="returned").instruction_id == "ver_1.1"

    def test_of_a_prenote_is_a_question(self, entry):
        file = take_returns(returned(entry, "R03", amount=0))

        assert [status for _, status, _ in records(file)] == ["review"]
        assert told(entry) == NOTHING_MOVED

    def test_of_a_return_is_a_question(self, entry):
        take_returns(returned(entry))
        first = InRecord.objects.get()
        one, two = returned(entry)

        file = take_returns([one, two.replace(entry.trace_number, first.rdfi_trace)])

        assert [status for _, status, _ in records(file)] == ["review"]
        assert told(entry) == [("returned", "R01")]

    @pytest.mark.parametrize("code", ["R61", "R68", "R71", "R76"])
    def test_with_the_code_of_an_answer_are_no_returns(self, entry, code):
        file = take_returns(returned(entry, code))

        assert all(status == "review" for _, status, _ in records(file))
        assert told(entry) == NOTHING_MOVED
