from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from networks.ach.inbound import deciding
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import AchReply, InRecord
from tests.networks.ach.inbound.builders import (
    NOW,
    RAIL,
    RDFI,
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
from tests.networks.ach.nacha import raw

pytestmark = pytest.mark.django_db
WHO: dict[str, Any] = {"staff": "anna", "why": "checked with the bank", "now": NOW}


def record_of(*pairs):
    file = take(answer_file(answer_batch(*(line for pair in pairs for line in pair))))
    return InRecord.objects.filter(file=file).order_by("-line").first()


@pytest.fixture
def late(batch):
    """A return that came after its time, applied."""
    entry = make_entry(batch, settled=date(2026, 11, 20), status="final")
    return record_of(returned(entry, "R02"))


@pytest.fixture
def short(entry):
    """A return that is one cent short, which waits for a person."""
    return record_of(returned(entry, amount=149_99))


class TestADishonor:
    def test_of_a_late_return_waits_for_the_next_file_of_replies(self, late):
        reply = deciding.dishonor(record_id=late.pk, code="R68", **WHO)

        assert (reply.kind, reply.code, reply.status) == ("dishonor", "R68", "waiting")
        assert (reply.rail_id, reply.due_on) == (RAIL, date(2026, 12, 3))
        assert (reply.decided_by, reply.decided_why) == ("anna", "checked with the bank")
        late.refresh_from_db()
        assert (late.status, late.may_dishonor, late.decided_by) == ("applied", False, "anna")

    def test_names_the_wrong_fields(self, short):
        reply = deciding.dishonor(record_id=short.pk, code="R69", information="03", **WHO)

        assert reply.information == "03"
        short.refresh_from_db()
        assert (short.status, short.decided_by) == ("resolved", "anna")

    def test_of_a_second_return_is_for_a_duplicate(self, entry):
        second = record_of(returned(entry), returned(entry))

        assert deciding.dishonor(record_id=second.pk, code="R67", **WHO).code == "R67"

    @pytest.mark.parametrize(
        ("code", "information"),
        [
            ("R01", ""),
            ("R63", ""),
            ("R67", ""),  # it is the only one
            ("R70", ""),  # R02 needs no agreement
            ("R69", ""),
            ("R69", "08"),
            ("R69", "1"),
            ("R69", "01*02*03*04*05*06*07*01"),
            ("R61", "ü"),
        ],
    )
    def test_needs_a_reason_that_fits(self, late, code, information):
        with pytest.raises(NotPossible):
            deciding.dishonor(record_id=late.pk, code=code, information=information, **WHO)

        assert not AchReply.objects.exists()
        late.refresh_from_db()
        assert late.may_dishonor

    def test_needs_a_late_return_where_it_says_so(self, entry):
        timely = record_of(returned(entry))

        with pytest.raises(NotPossible, match="in time"):
            deciding.dishonor(record_id=timely.pk, code="R68", **WHO)

    def test_comes_within_five_banking_days(self, late):
        after = {**WHO, "now": NOW + timedelta(days=9)}

        with pytest.raises(NotPossible, match="2026-12-03"):
            deciding.dishonor(record_id=late.pk, code="R68", **after)

    def test_comes_in_time_for_the_last_file_of_the_last_day(self, late):
        """The cut-off is 16:30 Eastern."""
        last = datetime(2026, 12, 3, 21, 29, tzinfo=UTC)
        with pytest.raises(NotPossible, match="leaves on 2026-12-04"):
            deciding.dishonor(
                record_id=late.pk, code="R68", **WHO | {"now": last + timedelta(minutes=1)}
            )

        reply = deciding.dishonor(record_id=late.pk, code="R68", **WHO | {"now": last})

        assert reply.status == "waiting"

    def test_comes_once(self, late):
        deciding.dishonor(record_id=late.pk, code="R68", **WHO)

        with pytest.raises(NotPossible, match="already"):
            deciding.dishonor(record_id=late.pk, code="R61", **WHO)

    def test_can_be_taken_back_before_it_is_in_a_file(self, late):
        reply = deciding.dishonor(record_id=late.pk, code="R68", **WHO)

        deciding.withdraw_reply(reply_id=reply.pk, now=NOW)

        reply.refresh_from_db()
        assert (reply.status, reply.ended_at) == ("withdrawn", NOW)
        assert deciding.dishonor(record_id=late.pk, code="R61", **WHO).status == "waiting"
        with pytest.raises(NotPossible):
            deciding.withdraw_reply(reply_id=reply.pk, now=NOW)

    def test_need_not_be(self, late):
        deciding.accept_late(record_id=late.pk, **WHO)

        late.refresh_from_db()
        assert (late.may_dishonor, late.decided_by) == (False, "anna")
        with pytest.raises(NotPossible):
            deciding.accept_late(record_id=late.pk, **WHO)

    def test_says_why(self, late):
        with pytest.raises(NotPossible, match="why"):
            deciding.dishonor(record_id=late.pk, code="R68", staff="anna", why=" ", now=NOW)

    def test_that_is_taken_back_leaves_the_return_to_people(self, short):
        reply = deciding.dishonor(record_id=short.pk, code="R69", information="03", **WHO)
        due = InRecord.objects.get(pk=short.pk).due_on

        deciding.withdraw_reply(reply_id=reply.pk, now=NOW)

        short.refresh_from_db()
        assert (short.status, short.decided_by, short.due_on) == ("review", "", due)
        deciding.resolve(record_id=short.pk, **WHO)

    def test_of_a_return_in_time_stays_late_for_nobody(self, entry):
        timely = record_of(returned(entry))
        reply = deciding.dishonor(record_id=timely.pk, code="R61", **WHO)

        deciding.withdraw_reply(reply_id=reply.pk, now=NOW)

        timely.refresh_from_db()
        assert (timely.status, timely.may_dishonor) == ("applied", True)
        with pytest.raises(NotPossible, match="in time"):
            deciding.dishonor(record_id=timely.pk, code="R68", **WHO)
        deciding.accept_late(record_id=timely.pk, **WHO)


class TestAReturnByHand:
    def test_names_its_entry_by_trace_or_by_account_and_amount(self, batch, entry, short):
        stranger = make_entry(batch, 9, account="999888777")

        with pytest.raises(NotPossible, match="neither"):
            deciding.return_entry(record_id=short.pk, entry_id=stranger.pk, **WHO)

        same = make_entry(batch, 10, amount=149_99)
        deciding.return_entry(record_id=short.pk, entry_id=same.pk, **WHO)
        assert told(same) == [("returned", "R01")]

    def test_sends_the_whole_entry_back(self, entry, short):
        deciding.return_entry(record_id=short.pk, entry_id=entry.pk, **WHO)

        entry.refresh_from_db()
        short.refresh_from_db()
        assert (entry.status, entry.code) == ("returned", "R01")
        assert (short.status, short.entry, short.decided_by) == ("applied", entry, "anna")
        assert told(entry) == [("returned", "R01")]

    def test_happens_once(self, entry, short):
        deciding.return_entry(record_id=short.pk, entry_id=entry.pk, **WHO)

        with pytest.raises(NotPossible):
            deciding.return_entry(record_id=short.pk, entry_id=entry.pk, **WHO)

        assert told(entry) == [("returned", "R01")]

    def test_needs_an_entry_that_is_on_its_way(self, batch, short):
        rejected = make_entry(batch, 7, status="rejected", code="R13", accepted_at=None)
        other = make_entry(make_batch(make_rail("other")), 8)

        for entry_id in (rejected.pk, other.pk, 0):
            with pytest.raises(NotPossible):
                deciding.return_entry(record_id=short.pk, entry_id=entry_id, **WHO)

        short.refresh_from_db()
        assert short.status == "review"

    def test_may_be_left(self, entry, short):
        deciding.resolve(record_id=short.pk, **WHO)

        short.refresh_from_db()
        assert (short.status, short.decided_why) == ("resolved", "checked with the bank")
        assert told(entry) == [("settled", ""), ("final", "")]
        with pytest.raises(NotPossible):
            deciding.resolve(record_id=short.pk, **WHO)


def answer(first, code, *, original=None, reason="02", amount=150_00, **fields):
    """The two records by which the account holder's bank answers a dishonor."""
    trace = f"{RDFI}{8_000_000 + first.pk:07d}"
    original = original or first.original_trace
    entry = raw.entry(
        code="26", rdfi="09100001", check="9", indicator="1", trace=trace, amount=amount, **fields
    )
    return [
        entry,
        f"799{code}{original}261125{RDFI}324{first.rdfi_trace}329{reason}"
        f"09100001000003333168 {trace}",
    ]


class TestAContest:
    def sent(self, record, code, information=""):
        """Our dishonor, as the bank has it."""
        reply = deciding.dishonor(record_id=record.pk, code=code, information=information, **WHO)
        AchReply.objects.filter(pk=reply.pk).update(
            status="frozen", batch=make_batch(record.rail), trace_number="091000010000033"
        )
        return reply

    def test_is_told_with_the_entry_that_came_back(self, late):
        self.sent(late, "R68")

        file = take(answer_file(answer_batch(*answer(late, "R73"))))

        assert records(file) == [(3, "applied", "")]
        record = InRecord.objects.get(file=file)
        assert (record.kind, record.answers, record.entry) == ("contested", late, late.entry)
        assert told(late.entry) == [("returned", "R02"), ("return_contested", "R73")]

    def test_of_what_we_never_dishonored_is_a_question(self, late):
        file = take(answer_file(answer_batch(*answer(late, "R73"))))

        assert records(file) == [(3, "review", "we dishonored no such return")]
        assert told(late.entry) == [("returned", "R02")]

    def test_of_a_return_that_was_not_applied_is_a_question(self, entry, short):
        self.sent(short, "R69", "03")

        file = take(answer_file(answer_batch(*answer(short, "R76"))))

        assert [status for _, status, _ in records(file)] == ["review"]
        assert told(entry) == [("settled", ""), ("final", "")]

    def test_with_the_return_corrected_sends_the_entry_back(self, entry, short):
        self.sent(short, "R69", "03")

        file = take(answer_file(answer_batch(*answer(short, "R74", reason="01"))))

        assert records(file) == [(3, "applied", "")]
        entry.refresh_from_db()
        assert (entry.status, entry.code) == ("returned", "R01")
        assert told(entry) == [("returned", "R01")]

    def test_with_the_return_of_an_applied_one_corrected_is_told(self, late):
        self.sent(late, "R69", "02")

        take(answer_file(answer_batch(*answer(late, "R74"))))

        assert told(late.entry) == [("returned", "R02"), ("return_contested", "R74")]
