"""What people decided about returns and changes, as files for the bank."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from networks.ach import building, releasing, replying, sealing
from networks.ach.inbound import deciding
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import AchReply, Correction, InRecord, OutFile, RailVersion
from networks.ach.nacha.records import Addenda98Refused, Addenda99Dishonored
from networks.ach.states import FileStatus
from tests.networks.ach.inbound.builders import (
    ACCOUNT,
    NOW,
    RAIL,
    RDFI,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    returned,
    take,
    told,
)
from tests.networks.ach.nacha.reading import entries, faults

pytestmark = pytest.mark.django_db
FREEZE = datetime(2026, 11, 25, 21, 20, tzinfo=UTC)  # 16:20 Eastern, ten minutes to the cut-off


@pytest.fixture
def batch(db):
    return make_batch(make_rail(active=True))


@pytest.fixture
def late(batch):
    entry = make_entry(batch, settled=date(2026, 11, 20), status="final")
    return InRecord.objects.get(file=take(answer_file(answer_batch(*returned(entry, "R02")))))


@pytest.fixture
def impossible(batch):
    entry = make_entry(batch, 2)
    return InRecord.objects.get(file=take(answer_file(change_batch(*changed(entry, "C05", "99")))))


def dishonor(record, code="R68"):
    return deciding.dishonor(record_id=record.pk, code=code, staff="anna", why="late", now=NOW)


def refuse(record):
    return deciding.refuse_change(
        record_id=record.pk, code="C69", staff="anna", why="no such code", now=NOW
    )


def built():
    """The content of the only file of replies."""
    (file_id,) = replying.freeze_due(RAIL, now=FREEZE)
    assert building.build(file_id, now=FREEZE)
    file = OutFile.objects.get(pk=file_id)
    assert (file.status, file.faults) == (FileStatus.BUILT, [])
    return file, b"".join(sealing.opened(file_id))


class TestAFileOfReplies:
    def test_dishonors_a_return(self, late):
        reply = dishonor(late)

        file, content = built()

        assert (file.kind, file.batch_count, file.entry_count) == ("reply", 1, 2)
        assert (file.debit_total, file.credit_total) == (150_00, 0)
        (item,) = entries(content)
        assert (item.record.transaction_code, item.record.amount) == (26, 150_00)
        assert item.record.receiving_dfi_routing_number == "090000515"
        assert item.record.dfi_account_number == ACCOUNT
        reply.refresh_from_db()
        assert item.addenda == (
            Addenda99Dishonored(
                dishonored_return_reason_code="R68",
                original_entry_trace_number=late.original_trace,
                original_receiving_dfi_identification=RDFI,
                return_trace_number=late.rdfi_trace,
                return_settlement_date=329,
                return_reason_code="02",
                addenda_information="",
                trace_number=reply.trace_number,
            ),
        )
        assert faults(content) == []
        assert reply.status == "frozen"

    def test_has_the_codes_of_returns_where_a_bank_left_those_of_the_entries(self, batch):
        entry = make_entry(batch, 8, settled=date(2026, 11, 20), status="final")
        lines = returned(entry, "R02", name=" " * 22)
        lines[0] = f"627{lines[0][3:]}"
        dishonor(InRecord.objects.get(file=take(answer_file(answer_batch(*lines)))))

        _, content = built()

        (item,) = entries(content)
        assert (item.record.transaction_code, item.record.individual_name) == (26, entry.name)

    def test_refuses_a_change_that_has_an_amount(self, batch):
        lines = changed(make_entry(batch, 9), "C05", "99")
        lines[0] = lines[0][:29] + "0000000100" + lines[0][39:]
        refuse(InRecord.objects.get(file=take(answer_file(change_batch(*lines)))))

        file, content = built()

        assert [item.record.amount for item in entries(content)] == [0]
        assert (file.debit_total, file.credit_total) == (0, 0)

    def test_is_not_kept_back_by_what_cannot_be_read(self, batch, late):
        lines = returned(make_entry(batch, 10, settled=date(2026, 11, 20), status="final"))
        whole = answer_file(answer_batch(*lines))
        broken = [f"6X{each[2:]}" if each == lines[0] else each for each in whole]
        unread = InRecord.objects.get(file=take(broken))
        assert unread.kind == "return"

        with pytest.raises(NotPossible, match="read"):
            dishonor(unread, "R61")
        dishonor(late)

        assert len(entries(built()[1])) == 1

    def test_has_nothing_whose_last_day_is_over(self, late):
        reply = dishonor(late)

        assert replying.freeze_due(RAIL, now=FREEZE + timedelta(days=9)) == []

        reply.refresh_from_db()
        late.refresh_from_db()
        assert (reply.status, late.may_dishonor) == ("withdrawn", True)
        assert "late" in late.note

    def test_repeats_what_a_bank_wrote_in_its_own_way(self, batch):
        entry = make_entry(batch, 7, account="12345678", settled=date(2026, 11, 20), status="final")
        lines = returned(entry, "R02", account="         12345678", name="   Acme corp")
        record = InRecord.objects.get(file=take(answer_file(answer_batch(*lines))))
        deciding.dishonor(
            record_id=record.pk, code="R68", information="late", staff="anna", why="x", now=NOW
        )

        _, content = built()

        (item,) = entries(content)
        detail = item.record
        assert (detail.dfi_account_number, detail.individual_name) == ("12345678", "ACME CORP")
        assert item.addenda[0].addenda_information == "LATE"

    def test_is_not_held_by_our_own_ceilings(self, late):
        dishonor(late)
        version = RailVersion.objects.get()
        terms = version.terms | {"entry_max": 100_00}
        RailVersion.objects.filter(pk=version.pk).update(status="superseded", superseded_at=NOW)
        version.pk, version.number, version.terms = "rlv_2", 2, terms
        version.save(force_insert=True)

        file, _ = built()

        assert file.debit_total == 150_00

    def test_refuses_a_change(self, impossible):
        reply = refuse(impossible)

        _, content = built()

        (item,) = entries(content)
        assert (item.record.transaction_code, item.record.amount) == (26, 0)
        reply.refresh_from_db()
        assert item.addenda == (
            Addenda98Refused(
                refused_cor_code="C69",
                original_entry_trace_number=impossible.original_trace,
                original_receiving_dfi_identification=RDFI,
                corrected_data="99",
                change_code="C05",
                trace_sequence_number=impossible.rdfi_trace[8:],
                trace_number=reply.trace_number,
            ),
        )
        assert faults(content) == []

    def test_has_a_batch_for_each_and_the_most_urgent_first(self, late, impossible):
        refuse(impossible)
        dishonor(late)

        file, content = built()

        assert file.batch_count == 2
        codes = [item.addenda[0][0] for item in entries(content)]
        assert codes == ["R68", "C69"]
        traces = [item.record.trace_number for item in entries(content)]
        assert traces == sorted(traces)

    def test_is_made_once(self, late):
        dishonor(late)

        assert len(replying.freeze_due(RAIL, now=FREEZE)) == 1
        assert replying.freeze_due(RAIL, now=FREEZE) == []

    def test_is_made_at_a_cut_off_only(self, late):
        dishonor(late)

        assert replying.freeze_due(RAIL, now=NOW) == []
        assert AchReply.objects.get().status == "waiting"

    def test_that_is_taken_apart_is_made_again(self, late):
        reply = dishonor(late)
        (first,) = replying.freeze_due(RAIL, now=FREEZE)
        OutFile.objects.filter(pk=first).update(
            status="withdrawn", withdrawn_at=NOW, withdrawn_why="a test"
        )

        (second,) = replying.freeze_due(RAIL, now=FREEZE)

        reply.refresh_from_db()
        assert second != first
        assert (reply.status, reply.batch.file_id) == ("frozen", second)

    def test_that_is_taken_apart_can_be_taken_back(self, late):
        reply = dishonor(late)
        (file,) = replying.freeze_due(RAIL, now=FREEZE)
        with pytest.raises(NotPossible):
            deciding.withdraw_reply(reply_id=reply.pk, now=FREEZE)
        releasing.take_apart(file, by="kim", why="It does not fit", now=FREEZE)

        deciding.withdraw_reply(reply_id=reply.pk, now=FREEZE)

        assert AchReply.objects.get().status == "withdrawn"
        assert replying.freeze_due(RAIL, now=FREEZE) == []


class TestTheBanksAnswer:
    def answer(self, file, *, rejected=None, bad=None):
        replying.acknowledged(file, rejected=rejected or {}, bad_batches=bad or {}, now=NOW)

    def test_to_a_dishonor_brings_the_money_back(self, late):
        reply = dishonor(late)
        file, _ = built()

        self.answer(file)

        reply.refresh_from_db()
        assert (reply.status, reply.ended_at) == ("accepted", NOW)
        assert told(late.entry) == [("returned", "R02"), ("return_dishonored", "R68")]
        self.answer(file)
        assert told(late.entry) == [("returned", "R02"), ("return_dishonored", "R68")]

    def test_of_no_goes_to_a_person(self, late, log):
        reply = dishonor(late)
        file, _ = built()
        reply.refresh_from_db()

        self.answer(file, rejected={reply.trace_number: "R27"})

        reply.refresh_from_db()
        assert (reply.status, reply.bank_code) == ("rejected", "R27")
        assert told(late.entry) == [("returned", "R02")]
        assert log.of("ach_reply_rejected")
        late.refresh_from_db()
        assert (late.may_dishonor, "decide" in late.note) == (True, True)
        assert dishonor(late, "R61").status == "waiting"

    def test_of_no_to_a_refusal_leaves_the_change_to_people(self, impossible):
        reply = refuse(impossible)
        file, _ = built()
        reply.refresh_from_db()

        self.answer(file, rejected={reply.trace_number: "R27"})

        impossible.refresh_from_db()
        correction = Correction.objects.get(record=impossible)
        assert (impossible.status, correction.status) == ("review", "open")
        assert (correction.refusal_code, correction.decided_at) == ("", None)
        assert refuse(impossible).status == "waiting"

    def test_to_its_batch_counts_as_well(self, late):
        reply = dishonor(late)
        file, _ = built()

        self.answer(file, bad={1: "company_unknown"})

        reply.refresh_from_db()
        assert (reply.status, reply.bank_code) == ("rejected", "company_unknown")

    def test_to_a_dishonor_of_what_was_never_applied_tells_nothing(self, batch):
        entry = make_entry(batch, 3)
        record = InRecord.objects.get(
            file=take(answer_file(answer_batch(*returned(entry, amount=149_99))))
        )
        deciding.dishonor(
            record_id=record.pk, code="R69", information="03", staff="a", why="b", now=NOW
        )
        file, content = built()

        self.answer(file)

        assert entries(content)[0].record.amount == 149_99
        assert told(entry) == [("settled", ""), ("final", "")]
