"""What the bank says of our files, as files of its own."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from networks.ach import releasing, spoken
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import deadlines
from networks.ach.models import AchEntry, AchEvent, OutFile
from networks.ach.models.inbound import InFolder
from networks.ach.spoken import Said
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    records,
    returned,
    take,
    told,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(batch):
    """An entry in a file that was sent, of which the bank has said nothing."""
    return make_entry(batch, status="sent", accepted_at=None, settled=None)


def say(
    file,
    verdict="accepted",
    *,
    batches=(),
    entries=(),
    reasons=(),
    settles_at="",
    name="a.ach.1.jsonl",
):
    """The bank's acknowledgment of a file; its row, once it was read. `settles_at` is when its
    first batch does."""
    lines = [
        {
            "type": "file",
            "file": file.remote_name,
            "sha256": file.sha256,
            "verdict": verdict,
            "reasons": [{"line": 1, "code": code, "detail": ""} for code in reasons],
            "accepted": {"entries": 0, "debit": 0, "credit": 0},
        },
        *(
            {
                "type": "batch",
                "batch": f"{number:07}",
                "verdict": "rejected",
                "reasons": [{"line": 2, "code": code, "detail": ""}],
            }
            for number, code in batches
        ),
        *(
            {
                "type": "batch",
                "batch": f"{1:07}",
                "verdict": "accepted",
                "settles_at": [each],
                "reasons": [],
            }
            for each in filter(None, [settles_at])
        ),
        *(
            {"type": "entry", "trace": trace, "status": status, "code": code, "warning": warning}
            for trace, status, code, warning in entries
        ),
    ]
    lines.append({"type": "end", "lines": len(lines) + 1})
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return take(data, name=name, folder=InFolder.ACK, rail=file.rail_id)


def codes(file):
    return [fault["code"] for fault in file.faults]


class TestAnAcceptance:
    def test_is_told_with_what_follows(self, batch, entry):
        ack = say(batch.file)

        assert (ack.status, ack.answers, ack.faults) == ("applied", batch.file, [])
        entry.refresh_from_db()
        assert entry.status == "accepted"
        assert [kind for kind, _ in told(entry)] == ["accepted", "settled", "final"]

    def test_twice_is_one(self, batch, entry):
        say(batch.file)

        again = say(batch.file, name="a.ach.2.jsonl", entries=[("0" * 15, "held", "", "")])

        assert again.status == "applied"
        assert AchEvent.objects.count() == 3

    def test_keeps_the_banks_remarks(self, batch, entry):
        remark = (entry.trace_number, "accepted", "", "retried_too_often")

        ack = say(batch.file, entries=[remark])

        assert ack.status == "applied"
        assert [(fault["code"], fault["scope"]) for fault in ack.faults] == [
            ("retried_too_often", "note")
        ]

    def test_after_the_return_changes_nothing_about_it(self, batch, entry):
        take(answer_file(answer_batch(*returned(entry))))

        say(batch.file)

        entry.refresh_from_db()
        assert entry.status == "returned"
        assert told(entry) == [("returned", "R01")]

    def test_says_when_it_settles(self, batch, entry):
        day = batch.effective_date + timedelta(days=1)

        ack = say(batch.file, settles_at=f"{day}T18:00:00+00:00")

        entry.refresh_from_db()
        assert (ack.status, entry.settlement_date) == ("applied", day)


class TestARejection:
    def test_of_the_file_sends_its_entries_again(self, batch, entry):
        ack = say(batch.file, "rejected", reasons=["file_hash"])

        assert ack.status == "applied"
        entry.refresh_from_db()
        assert entry.status == "requeued"
        new = AchEntry.objects.get(replaces=entry)
        assert (new.status, new.instruction_id) == ("waiting", entry.instruction_id)
        assert not AchEvent.objects.exists()

    def test_of_a_batch_sends_only_that_again(self, rail, batch, entry):
        other = make_batch(rail, file=batch.file, number=2)
        refused = make_entry(other, 2, status="sent", accepted_at=None, settled=None)

        say(batch.file, "part_rejected", batches=[(2, "batch_hash")])

        entry.refresh_from_db()
        refused.refresh_from_db()
        assert (entry.status, refused.status) == ("accepted", "requeued")
        assert AchEntry.objects.get(replaces=refused).status == "waiting"

    @pytest.mark.parametrize("return_first", [True, False])
    def test_of_an_entry_that_comes_back_as_well_counts_once(self, batch, entry, return_first):
        back = answer_file(answer_batch(*returned(entry, "R13")))
        rejected = [(entry.trace_number, "rejected", "R13", "")]
        if return_first:
            take(back)

        ack = say(batch.file, "part_rejected", entries=rejected)
        file = take(back)

        assert (ack.status, file.status) == ("applied", "applied")
        assert [status for _, status, _ in records(file)] == ["applied"]
        ends = [(kind, code) for kind, code in told(entry) if kind in {"returned", "rejected"}]
        assert ends == [("returned" if return_first else "rejected", "R13")]

    def test_of_a_file_that_the_bank_has_already_sends_nothing_again(self, batch, entry):
        ack = say(batch.file, "rejected", reasons=["duplicate_file"])

        assert (ack.status, codes(ack)) == ("review", ["ack_duplicate_file"])
        entry.refresh_from_db()
        assert entry.status == "sent"

    def test_of_a_repeat_after_its_acceptance_is_no_matter(self, batch, entry):
        say(batch.file)

        ack = say(batch.file, "rejected", reasons=["duplicate_file"], name="a.ach.2.jsonl")

        assert ack.status == "applied"
        entry.refresh_from_db()
        assert entry.status == "accepted"


class TestWhatIsLeftToAPerson:
    def assert_left(self, ack, entry, code):
        assert (ack.status, codes(ack), ack.next_attempt_at) == ("review", [code], None)
        entry.refresh_from_db()
        assert entry.status == "sent"

    def test_is_about_no_file_of_ours(self, batch, entry):
        batch.file.sha256 = "f" * 64

        self.assert_left(say(batch.file), entry, "ack_file_unknown")

    def test_names_a_batch_that_is_not_there(self, batch, entry):
        ack = say(batch.file, "part_rejected", batches=[(7, "batch_hash")])

        self.assert_left(ack, entry, "ack_batch_unknown")

    def test_names_an_entry_that_is_not_there(self, batch, entry):
        ack = say(batch.file, "part_rejected", entries=[("091000019999999", "rejected", "R13", "")])

        self.assert_left(ack, entry, "ack_entry_unknown")

    @pytest.mark.parametrize(
        "settles_at",
        ["2025-11-24T13:30:00+00:00", "2027-11-24T13:30:00+00:00", "9999-12-31T23:59:59+00:00"],
    )
    def test_settles_it_on_a_day_that_cannot_be(self, batch, entry, settles_at):
        ack = say(batch.file, settles_at=settles_at)

        self.assert_left(ack, entry, "ack_settlement_day")

    @pytest.mark.parametrize("days", [-1, 11])
    def test_settles_it_too_early_or_too_late(self, batch, entry, days):
        start = batch.effective_date if days < 0 else deadlines.eastern_day(NOW)
        day = start + timedelta(days=days)

        ack = say(batch.file, settles_at=f"{day}T18:00:00+00:00")

        self.assert_left(ack, entry, "ack_settlement_day")

    @pytest.mark.parametrize("is_whole", [True, False], ids=["file", "batch"])
    def test_refuses_what_came_back_in_part(self, batch, entry, is_whole):
        back = make_entry(batch, 2, status="sent", accepted_at=None, settled=None)
        take(answer_file(answer_batch(*returned(back))))

        if is_whole:
            ack = say(batch.file, "rejected", reasons=["file_hash"])
        else:
            ack = say(batch.file, "part_rejected", batches=[(batch.batch_number, "batch_hash")])

        self.assert_left(ack, entry, "ack_contradicts")

    def test_settles_it_before_all_time(self, batch, entry):
        ack = say(batch.file, settles_at="0001-01-01T00:00:00+05:00")

        self.assert_left(ack, entry, "ack_settles_at_invalid")

    def test_is_half_there(self, batch, entry):
        data = b'{"type": "file", "file": "a.ach", "sha25'

        ack = take(data, name="a.ach.1.jsonl", folder=InFolder.ACK)

        self.assert_left(ack, entry, "ack_not_json")

    def test_contradicts_an_earlier_one(self, batch, entry):
        say(batch.file)

        ack = say(batch.file, "rejected", reasons=["file_hash"], name="a.ach.2.jsonl")

        assert (ack.status, codes(ack)) == ("review", ["ack_contradicts"])
        entry.refresh_from_db()
        assert entry.status == "accepted"

    def test_comes_before_the_file_was_sent(self, rail):
        batch = make_batch(rail, status="built")
        entry = make_entry(batch, status="frozen", accepted_at=None, sent_at=None, settled=None)

        ack = say(batch.file)

        assert (ack.status, codes(ack)) == ("review", ["ack_too_early"])
        entry.refresh_from_db()
        assert entry.status == "frozen"

    def test_is_about_a_file_that_was_taken_apart(self, rail):
        """Its entries go with another one: somebody has to stop that."""
        batch = make_batch(rail, status="built")
        make_entry(batch, status="frozen", accepted_at=None, sent_at=None, settled=None)
        releasing.take_apart(batch.file_id, by="ann", why="Not at the bank", now=NOW)

        ack = say(batch.file)

        assert (ack.status, codes(ack)) == ("review", ["ack_file_given_up"])
        assert AchEntry.objects.get().status == "waiting"


class TestAnother:
    """An answer beside one that is being applied, or was."""

    def test_waits_for_a_person_while_the_first_is_being_applied(self, batch, entry):
        OutFile.objects.update(answered_how="file", answer_digest="0" * 64)

        ack = say(batch.file, "rejected", reasons=["file_hash"])

        assert (ack.status, codes(ack)) == ("review", ["ack_contradicts"])
        entry.refresh_from_db()
        assert entry.status == "sent"

    def test_that_refuses_other_batches_waits_for_a_person(self, rail):
        first = make_batch(rail)
        second = make_batch(rail, number=2, file=first.file)
        for sequence, of in enumerate((first, second), start=1):
            make_entry(of, sequence, status="sent", accepted_at=None, settled=None)
        refused = [(1, "R13")]

        assert say(first.file, "part_rejected", batches=refused).status == "applied"
        again = say(first.file, "part_rejected", batches=refused, reasons=["x"], name="b.jsonl")
        other = say(first.file, "part_rejected", batches=[(2, "R13")], name="c.jsonl")

        assert again.status == "applied"
        assert (other.status, codes(other)) == ("review", ["ack_contradicts"])


class TestABalancedFile:
    """Our own account's side of it is a batch as well."""

    @pytest.fixture
    def balanced(self, batch, entry):
        make_batch(batch.file.rail, number=2, file=batch.file, is_offset=True)
        return batch.file

    def test_of_which_a_batch_is_refused_alone_waits_for_a_person(self, balanced, entry):
        ack = say(balanced, "part_rejected", batches=[(1, "R13")])

        assert (ack.status, codes(ack)) == ("review", ["ack_offset_stays"])
        entry.refresh_from_db()
        assert entry.status == "sent"

    def test_counts_as_two_people_confirm_it(self, balanced):
        ack = say(balanced, "part_rejected", batches=[(1, "R13")])
        said = Said(verdict=Verdict.PART_REJECTED, said_by="Rosa", code="R13", batches=[1])
        answer = spoken.propose(balanced.pk, said=said, reason="Offset", by="ann", now=NOW)
        spoken.confirm(answer.pk, by="ben", now=NOW)
        again = say(balanced, "part_rejected", batches=[(1, "R13")], reasons=["x"], name="b")

        assert ack.status == "review"
        assert again.status == "applied"
        assert sorted(AchEntry.objects.values_list("status", flat=True)) == ["requeued", "waiting"]

    @pytest.mark.parametrize(
        ("verdict", "more"),
        [("rejected", {}), ("part_rejected", {"batches": [(1, "R13"), (2, "R13")]})],
    )
    def test_that_is_refused_whole_goes_again_with_its_offset(self, balanced, verdict, more):
        assert say(balanced, verdict, **more).status == "applied"
        assert sorted(AchEntry.objects.values_list("status", flat=True)) == ["requeued", "waiting"]

    def test_that_is_taken_whole_settles(self, balanced, entry):
        assert say(balanced).status == "applied"
        entry.refresh_from_db()
        assert entry.status == "accepted"
