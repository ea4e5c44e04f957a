from __future__ import annotations

from datetime import date, timedelta

import pytest

from networks.ach.inbound import changes, deciding
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import AchEvent, AchRail, AchReply, Correction, InRecord
from networks.ach.network import AchNetwork
from networks.base import AccountType
from networks.base import Correction as Corrected
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    records,
    take,
    told,
)

pytestmark = pytest.mark.django_db

NOTHING = [("settled", ""), ("final", "")]
NEW = "74456709001"
ROUTING = "091000019"


def take_change(entry, code="C01", data=NEW, **changes):
    where = changes.pop("where", {})
    return take(answer_file(change_batch(*changed(entry, code, data, **changes))), **where)


class TestAChange:
    def test_is_told_and_moves_no_money(self, entry):
        file = take_change(entry)

        assert file.status == "applied"
        assert records(file) == [(3, "applied", "")]
        assert told(entry)[-1] == ("final", "")
        event = AchEvent.objects.get(kind="corrected")
        assert (event.code, event.instruction_id) == ("C01", entry.instruction_id)
        assert (event.amount, event.due_at) == (entry.amount, NOW)
        assert event.correction == Correction.objects.get()
        assert changes.details(Correction.objects.get()) == Corrected(
            code="C01", account_number=NEW
        )
        entry.refresh_from_db()
        assert entry.status == "accepted"

    def test_is_told_in_words(self, entry):
        take_change(entry, "C05", "37")

        events = AchNetwork(entry.rail_id).poll(now=NOW, limit=9)
        assert [(each.code, each.reason) for each in events] == [
            ("", ""),
            ("C05", "Kind of account"),
        ]

    def test_is_kept_encrypted_with_what_was_sent(self, entry):
        take_change(entry, "C07", f"{ROUTING}{NEW:<17}37")

        row = Correction.objects.get()
        assert (row.status, row.due_on, row.decided_at) == ("applied", date(2026, 12, 4), NOW)
        stored = row.old_token + row.corrected_token + InRecord.objects.get().raw_token
        assert not any(word in stored for word in (NEW, ROUTING, "744-5678-99"))
        assert "744-5678-99" in changes.before(row).account_number
        assert changes.details(row) == Corrected(
            code="C07",
            routing_number=ROUTING,
            account_number=NEW,
            account_type=AccountType.SAVINGS,
        )

    def test_is_matched_without_an_amount(self, entry):
        file = take_change(entry, account="744-5678-98")

        assert "another account" in records(file)[0][2]
        assert told(entry) == NOTHING

    def test_that_only_informs_changes_nothing(self, entry):
        file = take_change(entry, "C04", "SOMEBODY ELSE")

        assert records(file) == [(3, "applied", "only informs: nothing is changed by it")]
        assert Correction.objects.get().status == "informational"
        assert told(entry) == NOTHING

    def test_twice_is_told_twice(self, entry):
        take_change(entry, "C01", NEW)
        take_change(entry, "C05", "37")

        assert sorted(told(entry))[:2] == [("corrected", "C01"), ("corrected", "C05")]

    def test_of_an_entry_that_came_back_is_told_as_well(self, batch):
        entry = make_entry(batch, status="returned", code="R01", ended_at=NOW)

        take_change(entry)

        assert ("corrected", "C01") in told(entry)

    def test_of_a_reversal_is_told_of_what_it_takes_back(self, batch, entry):
        back = make_entry(
            batch,
            5,
            instruction_id="rvs_1",
            purpose="reversal",
            is_debit=False,
            transaction_code=22,
            original=entry,
        )

        take(answer_file(change_batch(*changed(back), service_class="220")))

        event = AchEvent.objects.get(kind="corrected")
        assert (event.instruction_id, event.entry) == (entry.instruction_id, back)


class TestWhatAPersonDecides:
    @pytest.fixture
    def careful(self, db):
        make_rail("careful", apply_changes=False)
        return make_entry(make_batch(AchRail.objects.get(pk="careful")))

    def test_where_the_rail_does_not_apply_by_itself(self, careful):
        take_change(careful, where={"rail": "careful"})
        correction = Correction.objects.get()
        assert (correction.status, correction.record.status) == ("open", "review")
        assert correction.record.due_on == correction.due_on == date(2026, 12, 4)
        assert told(careful) == NOTHING

        deciding.apply_change(correction_id=correction.pk, staff="anna", why="ok", now=NOW)

        correction.refresh_from_db()
        correction.record.refresh_from_db()
        assert (correction.status, correction.record.status) == ("applied", "applied")
        assert (correction.decided_by, correction.record.decided_by) == ("anna", "anna")
        assert ("corrected", "C01") in told(careful)
        with pytest.raises(NotPossible):
            deciding.apply_change(correction_id=correction.pk, staff="bo", why="ok", now=NOW)

    @pytest.mark.parametrize(
        ("code", "data"), [("C01", "0000"), ("C02", "123456789"), ("C05", "99"), ("C03", ROUTING)]
    )
    def test_impossible_data_are_refused(self, entry, code, data):
        take_change(entry, code, data)
        correction = Correction.objects.get()
        assert (correction.status, correction.corrected_token) == ("open", "")
        assert correction.record.status == "review"
        assert correction.record.due_on == date(2026, 12, 10)
        with pytest.raises(NotPossible):
            deciding.apply_change(correction_id=correction.pk, staff="a", why="b", now=NOW)

        reply = deciding.refuse_change(
            record_id=correction.record_id, code="C65", staff="anna", why="no number", now=NOW
        )

        correction.refresh_from_db()
        correction.record.refresh_from_db()
        assert (correction.status, correction.refusal_code) == ("refused", "C65")
        assert correction.record.status == "resolved"
        assert (reply.kind, reply.code, reply.status) == ("refusal", "C65", "waiting")
        assert reply.due_on == date(2026, 12, 10)
        assert told(entry) == NOTHING

    @pytest.mark.parametrize(("code", "days"), [("C60", 0), ("R68", 0), ("C65", 16)])
    def test_a_refusal_needs_its_code_and_its_time(self, entry, code, days):
        take_change(entry, "C05", "99")
        record = InRecord.objects.get()
        now = NOW + timedelta(days=days)

        with pytest.raises(NotPossible):
            deciding.refuse_change(record_id=record.pk, code=code, staff="anna", why="why", now=now)

        record.refresh_from_db()
        assert record.status == "review"
        assert Correction.objects.get().status == "open"
        assert not AchReply.objects.exists()

    def test_an_unknown_code_is_left_to_a_person(self, entry):
        file = take_change(entry, "C99", NEW)

        assert records(file) == [(3, "review", "faults: change_code_unknown")]
        assert [(fault["line"], fault["code"]) for fault in file.faults] == [
            (4, "change_code_unknown")
        ]
        record = InRecord.objects.get()
        reply = deciding.refuse_change(
            record_id=record.pk, code="C65", staff="anna", why="no such code", now=NOW
        )
        assert reply.status == "waiting"
        assert not Correction.objects.exists()

    def test_blank_data_are_left_to_a_person(self, entry):
        file = take_change(entry, "C01", "")

        assert records(file) == [(3, "review", "faults: corrected_data_blank")]

    def test_that_a_person_resolves_is_over(self, careful):
        file = take_change(careful, where={"rail": "careful"})
        record = InRecord.objects.get(file=file)

        deciding.resolve(record_id=record.pk, staff="anna", why="wrong account", now=NOW)

        assert Correction.objects.get().status == "informational"
        assert told(careful) == NOTHING
