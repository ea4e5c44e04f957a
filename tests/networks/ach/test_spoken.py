"""What a bank says by telephone of a file: proposed, confirmed by another person, and applied."""

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType

import pytest
import time_machine
from django.db import DatabaseError, IntegrityError, transaction

from common import database_clock
from networks.ach import acknowledging, spoken, tasks
from networks.ach.acknowledging import acknowledged
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchBatch, AchEntry, OutFile, SpokenAnswer
from networks.ach.models.files import Answered
from networks.ach.sending import send_next
from networks.ach.spoken import AnswerRefused, Said
from networks.base import Method
from tests.networks.ach.builders import (
    BANK,
    FREEZE,
    RAIL,
    instruction,
    make_files,
    make_originator,
    make_rail,
    take,
    the_file,
)
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound.test_acknowledgments import codes, say

pytestmark = pytest.mark.django_db(transaction=True)

ANN, BEN = "usr_ann", "usr_ben"
LATER = FREEZE + timedelta(hours=3)
TOOK_ALL = Said(verdict=Verdict.ACCEPTED, said_by="Rosa, ACH desk")
TOOK_NOTHING = Said(verdict=Verdict.REJECTED, said_by="Rosa, ACH desk", code="file_hash")


@pytest.fixture
def file(tmp_path):
    """Sent, with batch 1 and batch 2: a credit and a debit."""
    make_rail(dual_release=False)
    make_originator()
    return sent(tmp_path)


def sent(tmp_path):
    take(instruction(id="credit", method=Method.ACH_CREDIT), instruction(id="debit"))
    make_files(0)
    send_next(RAIL, Folder(tmp_path), now=FREEZE)
    return the_file()


def propose(file, said=TOOK_ALL, *, by=ANN):
    return spoken.propose(file.pk, said=said, reason="No file came", by=by, now=LATER)


def confirm(answer, *, by=BEN):
    spoken.confirm(answer.pk, by=by, now=LATER)
    return spoken.finish(answer.file_id, now=LATER)


def some(*batches):
    return Said(verdict=Verdict.PART_REJECTED, said_by="Rosa", code="batch_hash", batches=batches)


def by_file(file, verdict=Verdict.ACCEPTED, rejected=MappingProxyType({})):
    return acknowledged(
        file.pk,
        verdict=verdict,
        rejected_batches=rejected,
        rejected_entries={},
        code="file_hash" if verdict == Verdict.REJECTED else "",
        now=LATER,
    )


def statuses():
    return sorted(AchEntry.objects.values_list("status", flat=True))


def refuses(words, act, *args, **options):
    with pytest.raises(AnswerRefused, match=words):
        act(*args, **options)


class TestConfirmed:
    def test_changes_nothing_before(self, file):
        propose(file)

        assert not spoken.finish(file.pk, now=LATER)
        assert (the_file().status, the_file().answered_how) == ("sent", "")
        assert statuses() == ["sent", "sent"]

    def test_an_acceptance_is_as_one_by_file(self, file):
        assert confirm(propose(file))

        assert (the_file().status, the_file().answered_how) == ("acknowledged", "people")
        assert statuses() == ["accepted", "accepted"]
        assert len(BANK.poll(now=LATER, limit=9)) == 2
        assert not spoken.finish(file.pk, now=LATER)

    def test_a_rejection_sends_all_again(self, file):
        confirm(propose(file, TOOK_NOTHING))

        assert the_file().status == "rejected"
        assert statuses() == ["requeued", "requeued", "waiting", "waiting"]
        assert set(AchBatch.objects.values_list("code", flat=True)) == {"file_hash"}

    def test_rejected_batches_go_again_alone(self, file):
        confirm(propose(file, some(2)))

        batches = AchBatch.objects.order_by("batch_number").values_list("status", "code")
        assert list(batches) == [("accepted", ""), ("rejected", "batch_hash")]
        assert the_file().status == "part_rejected"

    def test_of_a_bank_that_acknowledges_nothing(self, tmp_path):
        make_rail(dual_release=False, ack_format="none")
        make_originator()

        confirm(propose(sent(tmp_path), TOOK_NOTHING))

        assert the_file().status == "rejected"

    def test_a_sweep_does_what_is_left_of_it(self, file):
        spoken.confirm(propose(file).pk, by=BEN, now=LATER)
        assert the_file().status == "sent"

        with time_machine.travel(LATER, tick=False), database_clock.at(LATER):
            tasks.watch_files()  # once the day is over, the credit would be final

        assert (the_file().status, statuses()) == ("acknowledged", ["accepted", "accepted"])


class TestTwoPeople:
    def test_are_two(self, file):
        answer = propose(file)

        refuses("Another person", spoken.confirm, answer.pk, by=ANN, now=LATER)
        refuses("Another person", spoken.reject, answer.pk, by=ANN, now=LATER)
        with pytest.raises(IntegrityError, match="spoken_answer_decided_by_another"):
            SpokenAnswer.objects.update(status="confirmed", decided_by=ANN, decided_at=LATER)

    def test_the_other_may_reject_and_another_answer_be_written_down(self, file):
        first = spoken.reject(propose(file).pk, by=BEN, now=LATER)

        refuses("not confirmed", spoken.confirm, first.pk, by=BEN, now=LATER)
        assert statuses() == ["sent", "sent"]
        assert confirm(propose(file, TOOK_NOTHING))

    def test_decide_once(self, file):
        answer = propose(file)
        confirm(answer)

        refuses("confirmed", spoken.confirm, answer.pk, by="usr_cleo", now=LATER)
        for change in ({"said_by": "Eve"}, {"code": "x"}, {"decided_by": "usr_eve"}):
            refused = pytest.raises(DatabaseError, match=r"Cannot update|permission denied")
            with refused, transaction.atomic():
                SpokenAnswer.objects.update(**change)

    def test_write_down_one_answer_at_a_time(self, file):
        propose(file)

        refuses("already", propose, file, by=BEN)

    def test_of_nothing(self, file):
        refuses("no such", spoken.confirm, "spk_unknown", by=BEN, now=LATER)
        refuses("no such", propose, OutFile(id="ofl_unknown"))


class TestWhatCannotBe:
    @pytest.mark.parametrize(
        ("said", "words"),
        [
            (Said(verdict=Verdict.REJECTED, said_by="Rosa"), "code"),
            (Said(verdict=Verdict.REJECTED, said_by="Rosa", code="duplicate_file"), "already"),
            (Said(verdict=Verdict.REJECTED, said_by="Rosa", code="x", batches=[1]), "none if"),
            (Said(verdict=Verdict.ACCEPTED, said_by="Rosa", code="x"), "took whole"),
            (Said(verdict=Verdict.ACCEPTED, said_by=" "), "who"),
            (some(), "Name batches"),
            (some(2, 3), "no such batch"),
        ],
        ids=range(7),
    )
    def test_is_refused(self, file, said, words):
        refuses(words, propose, file, said)

        assert not SpokenAnswer.objects.exists()

    def test_a_file_that_was_not_sent(self, file):
        make_files(1, now=FREEZE + timedelta(days=1))

        refuses("waits for no answer", propose, OutFile.objects.get(status="released"))

    def test_a_rejection_of_what_came_back(self, file):
        answer = propose(file, TOOK_NOTHING)
        AchEntry.objects.filter(instruction_id="debit").update(status="returned", ended_at=LATER)

        refuses("came back", spoken.confirm, answer.pk, by=BEN, now=LATER)


class TestTheBanksOwnAnswer:
    def test_in_between_wins(self, file):
        answer = propose(file, TOOK_NOTHING)
        by_file(file)

        answer.refresh_from_db()
        assert (answer.status, answer.decided_by, answer.decided_at) == ("void", "", LATER)
        refuses("came first", spoken.confirm, answer.pk, by=BEN, now=LATER)
        assert statuses() == ["accepted", "accepted"]

    def test_begun_and_not_ended_is_not_mixed_with_another(self, file):
        answer = propose(file, TOOK_NOTHING)
        said = acknowledging.digest(
            verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}
        )
        assert acknowledging._begin(file.pk, Answered.FILE, said, LATER)  # and its worker dies

        refuses("came first", spoken.confirm, answer.pk, by=BEN, now=LATER)
        refuses("being applied", propose, file)
        by_file(file)
        assert statuses() == ["accepted", "accepted"]

    def test_waits_for_what_two_people_confirmed(self, file):
        spoken.confirm(propose(file, TOOK_NOTHING).pk, by=BEN, now=LATER)  # who dies

        assert not by_file(file)
        ack = say(the_file())

        assert (ack.status, codes(ack)) == ("review", ["ack_contradicts"])
        assert (the_file().status, statuses().count("requeued")) == ("rejected", 2)

    @pytest.mark.parametrize(
        ("said", "verdict", "more", "status"),
        [
            (TOOK_ALL, "accepted", {}, "applied"),
            (TOOK_ALL, "rejected", {"reasons": ["file_hash"]}, "review"),
            (TOOK_ALL, "rejected", {"reasons": ["duplicate_file"]}, "applied"),
            (TOOK_NOTHING, "rejected", {"reasons": ["other_code"]}, "applied"),
            (TOOK_NOTHING, "rejected", {"reasons": ["duplicate_file"]}, "review"),
            (some(2), "part_rejected", {"batches": [(2, "x")]}, "applied"),
            (some(2), "part_rejected", {"batches": [(1, "x")]}, "review"),
            (some(2), "accepted", {}, "review"),
        ],
        ids=range(8),
    )
    def test_afterwards_is_kept_for_a_person_if_it_differs(self, file, said, verdict, more, status):
        confirm(propose(file, said))
        before = statuses()

        ack = say(the_file(), verdict, **more)

        assert ack.status == status
        assert statuses() == before

    def test_silence_is_none_while_somebody_says_otherwise(self, tmp_path):
        make_rail(dual_release=False, ack_format="none", accept_after=timedelta(hours=1))
        make_originator()
        answer = propose(sent(tmp_path), TOOK_NOTHING)

        assert acknowledging.accept_unanswered(RAIL, now=LATER) == []
        assert the_file().status == "sent"
        spoken.reject(answer.pk, by=BEN, now=LATER)
        assert acknowledging.accept_unanswered(RAIL, now=LATER) == [the_file().pk]
        assert the_file().answered_how == "silence"

    def test_silence_counts_again_when_nobody_confirms_it_for_a_banking_day(self, tmp_path):
        make_rail(dual_release=False, ack_format="none", accept_after=timedelta(hours=1))
        make_originator()
        answer = propose(sent(tmp_path), TOOK_NOTHING)
        wednesday = LATER + timedelta(days=1)

        assert answer.speaks_until == wednesday
        assert acknowledging.accept_unanswered(RAIL, now=wednesday - timedelta(seconds=1)) == []
        assert acknowledging.accept_unanswered(RAIL, now=wednesday) == [the_file().pk]
        answer.refresh_from_db()
        assert (answer.status, answer.decided_at) == ("void", wednesday)
        assert statuses() == ["accepted", "accepted"]

    def test_is_never_exchanged(self, file):
        confirm(propose(file))

        with pytest.raises(DatabaseError, match="Cannot update"):
            OutFile.objects.update(answered_how="file")
