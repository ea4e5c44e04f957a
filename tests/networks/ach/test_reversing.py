"""Two people take an entry back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from networks.ach import reversing
from networks.ach.inbound import deciding
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import AchEntry, AchReversal, InRecord, RailVersion
from networks.ach.models.reversals import ReversalReason
from networks.ach.reversing import ReversalRefused
from tests.networks.ach.inbound.builders import (
    ACCOUNT,
    NOW,
    TERMS,
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


@pytest.fixture
def batch(db):
    return make_batch(make_rail(active=True))


@pytest.fixture
def entry(batch):
    return make_entry(batch)


def propose(entry, **changes):
    values = {
        "entry_id": entry.pk,
        "reason": ReversalReason.DUPLICATE,
        "discovered_at": NOW - timedelta(hours=1),
        "staff": "anna",
        "note": "sent twice",
        "now": NOW,
    }
    return reversing.propose(**values | changes)


def approve(entry, **changes):
    reversal = propose(entry, **changes)
    reversing.send(reversing.approve(reversal_id=reversal.pk, staff="bo", now=NOW), now=NOW)
    return AchReversal.objects.get(pk=reversal.pk)


def sent_for(reversal):
    return AchEntry.objects.get(instruction_id=reversal.pk)


def agree(rail_id, *, number, **terms):
    """New terms of the rail."""
    former = RailVersion.objects.get(rail_id=rail_id, status="current")
    RailVersion.objects.filter(pk=former.pk).update(status="superseded", superseded_at=NOW)
    RailVersion.objects.create(
        rail_id=rail_id,
        number=number,
        terms=replace(TERMS, **terms).as_json(),
        status="current",
        by_command=True,
        proposed_by="ops",
        proposed_at=NOW,
        reason="next",
        decided_by="ops",
        decided_at=NOW,
    )


def move(entry, status, batch):
    """What a file and its acknowledgment make of an entry."""
    AchEntry.objects.filter(pk=entry.pk).update(
        status="frozen",
        batch=batch,
        frozen_at=NOW,
        trace_number="091000019999999",
        effective_date="2026-11-27",
    )
    for step in ("sent", "accepted", "final"):
        AchEntry.objects.filter(pk=entry.pk).update(
            status=step, **({"accepted_at": NOW} if step == "accepted" else {})
        )
        if step == status:
            return


class TestTwoPeople:
    def test_send_the_opposite_entry(self, entry):
        reversal = approve(entry)

        assert (reversal.status, reversal.decided_by) == ("approved", "bo")
        sent = sent_for(reversal)
        assert (sent.is_debit, sent.transaction_code, sent.status) == (False, 22, "waiting")
        assert (sent.amount, sent.sec, sent.company_id) == (
            entry.amount,
            entry.sec,
            entry.company_id,
        )
        assert (sent.description, sent.purpose) == ("REVERSAL", "reversal")
        assert (sent.original, sent.account_number) == (entry, ACCOUNT)
        assert sent.individual_id == entry.individual_id

    def test_are_two(self, entry):
        reversal = propose(entry)

        with pytest.raises(ReversalRefused, match="Another person"):
            reversing.approve(reversal_id=reversal.pk, staff="anna", now=NOW)
        with pytest.raises(ReversalRefused, match="Another person"):
            reversing.reject(reversal_id=reversal.pk, staff="anna", now=NOW)

        assert AchReversal.objects.get().status == "proposed"
        assert not AchEntry.objects.filter(purpose="reversal").exists()

    def test_may_leave_it(self, entry):
        reversal = propose(entry)

        reversing.reject(reversal_id=reversal.pk, staff="bo", now=NOW)

        assert AchReversal.objects.get().status == "rejected"
        assert not AchEntry.objects.filter(purpose="reversal").exists()
        assert propose(entry).status == "proposed"

    def test_send_nothing_when_it_is_too_late_by_then(self, entry):
        agree(entry.rail_id, number=2, active=False)
        reversal = approve(entry)
        agree(entry.rail_id, number=3, active=True)

        reversing.run(now=NOW + timedelta(days=2))

        reversal.refresh_from_db()
        assert (reversal.status, "24 hours" in reversal.refusal) == ("failed", True)
        assert not AchEntry.objects.filter(purpose="reversal").exists()

    def test_decide_once(self, entry):
        reversal = approve(entry)

        with pytest.raises(ReversalRefused):
            reversing.approve(reversal_id=reversal.pk, staff="cy", now=NOW)
        with pytest.raises(ReversalRefused):
            propose(entry)

    def test_are_refused_when_its_time_is_over_meanwhile(self, entry):
        reversal = propose(entry)

        with pytest.raises(ReversalRefused, match="24 hours"):
            reversing.approve(reversal_id=reversal.pk, staff="bo", now=NOW + timedelta(hours=24))

    @pytest.mark.parametrize(
        "changes",
        [{"entry_id": 0}, {"note": " "}, {"discovered_at": NOW - timedelta(days=2)}],
    )
    def test_need_an_entry_a_note_and_their_time(self, entry, changes):
        with pytest.raises(ReversalRefused):
            propose(entry, **changes)

        assert not AchReversal.objects.exists()

    def test_wait_until_the_bank_has_accepted_the_entry(self, entry):
        sent = make_entry(make_batch(entry.batch.file.rail), 2, status="sent", accepted_at=None)

        with pytest.raises(ReversalRefused, match="not accepted"):
            propose(sent)

    def test_send_nothing_for_an_entry_that_came_back_since(self, entry):
        reversal = propose(entry)
        take(answer_file(answer_batch(*returned(entry))))
        AchReversal.objects.filter(pk=reversal.pk).update(
            status="approved", decided_by="bo", decided_at=NOW
        )

        assert reversing.run(now=NOW) == 0

        reversal.refresh_from_db()
        assert (reversal.status, reversal.refusal) == ("failed", "the entry is returned")
        assert not AchEntry.objects.filter(purpose="reversal").exists()

    def test_send_it_once_whoever_dies(self, entry):
        reversal = approve(entry)

        for _ in range(3):
            reversing.send(reversal, now=NOW)
            reversing.run(now=NOW)

        assert AchEntry.objects.filter(purpose="reversal").count() == 1

    def test_send_it_later_while_the_rail_takes_nothing(self, entry):
        agree(entry.rail_id, number=2, active=False)
        reversal = approve(entry)
        assert reversal.status == "approved"
        assert not AchEntry.objects.filter(purpose="reversal").exists()

        agree(entry.rail_id, number=3, active=True)
        reversing.run(now=NOW)

        assert sent_for(reversal).status == "waiting"

    def test_send_nothing_that_has_waited_too_long(self, entry):
        """Five banking days after Nov 24 is Dec 2: the file of Dec 1, at 16:30 Eastern, settles
        then."""
        reversal = approve(entry)
        last = datetime(2026, 12, 1, 21, 29, tzinfo=UTC)

        assert reversing.run(now=last) == 0
        assert sent_for(reversal).status == "waiting"
        assert reversing.run(now=last + timedelta(minutes=1)) == 1

        assert sent_for(reversal).status == "withdrawn"
        reversal.refresh_from_db()
        assert (reversal.status, "last day" in reversal.refusal) == ("failed", True)
        entry.refresh_from_db()
        assert entry.status == "accepted"

    def test_send_the_others_where_the_account_of_one_does_not_open(self, batch, entry):
        second = make_entry(batch, 2)
        agree(entry.rail_id, number=2, active=False)
        broken, whole = approve(entry), approve(second)
        agree(entry.rail_id, number=3, active=True)
        AchEntry.objects.filter(pk=entry.pk).update(account_token=second.account_token)

        reversing.run(now=NOW)

        assert sent_for(whole).status == "waiting"
        assert not AchEntry.objects.filter(instruction_id=broken.pk).exists()
        broken.refresh_from_db()
        assert broken.status == "approved"


class TestItsEffect:
    def test_on_a_debit_comes_when_the_bank_accepts_it(self, batch, entry):
        reversal = approve(entry)
        move(sent_for(reversal), "sent", make_batch(batch.file.rail))
        assert reversing.run(now=NOW) == 0
        assert told(entry) == [("settled", ""), ("final", "")]

        AchEntry.objects.filter(purpose="reversal").update(status="accepted", accepted_at=NOW)
        assert reversing.run(now=NOW) == 1

        entry.refresh_from_db()
        reversal.refresh_from_db()
        assert (entry.status, entry.code) == ("returned", "takeback")
        assert told(entry) == [("returned", "takeback")]
        assert (reversal.status, reversal.effective_at) == ("done", NOW)
        assert reversing.run(now=NOW) == 0

    def test_on_a_credit_comes_when_it_is_final(self, batch):
        payment = make_entry(batch, is_debit=False, transaction_code=22, purpose="payment")
        reversal = approve(payment)
        assert sent_for(reversal).transaction_code == 27
        move(sent_for(reversal), "accepted", make_batch(batch.file.rail))
        assert reversing.run(now=NOW) == 0

        AchEntry.objects.filter(purpose="reversal").update(status="final")
        assert reversing.run(now=NOW) == 1

        assert told(payment) == [("returned", "takeback")]

    def test_is_none_when_it_comes_back(self, batch):
        payment = make_entry(batch, is_debit=False, transaction_code=22, purpose="payment")
        reversal = approve(payment)
        move(sent_for(reversal), "accepted", make_batch(batch.file.rail))
        AchEntry.objects.filter(purpose="reversal").update(status="returned", code="R01")

        assert reversing.run(now=NOW) == 1

        reversal.refresh_from_db()
        assert (reversal.status, reversal.refusal) == ("failed", "returned R01")
        assert told(payment) == [("settled", ""), ("final", "")]

    def test_is_none_when_the_original_comes_back_before_it_is_in_a_file(self, entry):
        reversal = approve(entry)

        take(answer_file(answer_batch(*returned(entry))))

        assert told(entry) == [("returned", "R01")]
        assert sent_for(reversal).status == "withdrawn"
        assert reversing.run(now=NOW) == 1
        reversal.refresh_from_db()
        assert (reversal.status, reversal.refusal) == (
            "failed",
            "not sent: the original came back by itself",
        )

    def test_on_its_way_makes_a_return_of_the_original_a_question(self, batch, entry):
        reversal = approve(entry)
        move(sent_for(reversal), "sent", make_batch(batch.file.rail))

        file = take(answer_file(answer_batch(*returned(entry))))

        ((_, status, note),) = records(file)
        assert (status, "R62" in note) == ("review", True)
        assert told(entry) == [("settled", ""), ("final", "")]
        record = InRecord.objects.get(file=file)
        with pytest.raises(NotPossible, match="on its way"):
            deciding.return_entry(
                record_id=record.pk, entry_id=entry.pk, staff="cy", why="so", now=NOW
            )
        AchEntry.objects.filter(purpose="reversal").update(status="accepted", accepted_at=NOW)
        reversing.run(now=NOW)
        assert told(entry) == [("returned", "takeback")]
        reversal.refresh_from_db()
        assert reversal.status == "done"

    def test_is_a_question_when_the_reversal_comes_back_after_it(self, batch, entry):
        reversal = approve(entry)
        move(sent_for(reversal), "accepted", make_batch(batch.file.rail))
        reversing.run(now=NOW)
        sent = sent_for(reversal)

        file = take(
            answer_file(answer_batch(*returned(sent, "R03"), service_class="220", settlement="331"))
        )

        ((_, status, note),) = records(file)
        assert (status, "settle with the tenant" in note) == ("review", True)
        assert told(entry) == [("returned", "takeback")]
        record = InRecord.objects.get(file=file)
        deciding.return_entry(record_id=record.pk, entry_id=sent.pk, staff="cy", why="so", now=NOW)
        assert sent_for(reversal).status == "returned"

    def test_makes_a_return_of_the_original_a_question(self, batch, entry):
        reversal = approve(entry)
        move(sent_for(reversal), "accepted", make_batch(batch.file.rail))
        reversing.run(now=NOW)

        file = take(answer_file(answer_batch(*returned(entry))))

        assert [status for _, status, _ in records(file)] == ["review"]
        assert told(entry) == [("returned", "takeback")]
