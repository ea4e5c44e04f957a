"""Two people confirm or reject what a bank said by telephone, while its own answer comes; and the
bank's own answers differ."""

from __future__ import annotations

from functools import partial

import pytest

from networks.ach import acknowledging, spoken
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchBatch, AchEntry, OutFile, SpokenAnswer
from networks.ach.models.files import Answered
from networks.ach.sending import send_next
from networks.ach.spoken import AnswerRefused, Said
from tests.networks.ach import life
from tests.networks.ach.builders import FREEZE, RAIL, make_files, make_originator, make_rail
from tests.networks.ach.folder import Folder
from tests.races.together import rounds, together

WORKERS = 4
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)
NOTHING = Said(verdict=Verdict.REJECTED, said_by="Rosa", code="file_hash")


@pytest.fixture
def answer(tmp_path):
    """Not confirmed, to a file of four batches: the bank took nothing of it."""
    make_rail(entries_per_batch_max=2)
    make_originator()
    (file,) = make_files(8)
    life.release(file, FREEZE)
    send_next(RAIL, Folder(tmp_path), now=FREEZE)
    assert file.batches.count() == 4
    return spoken.propose(file.pk, said=NOTHING, reason="No file", by="usr_ann", now=FREEZE)


def confirm(answer, by):
    spoken.confirm(answer.pk, by=by, now=FREEZE)
    return spoken.finish(answer.file_id, now=FREEZE)


def statuses():
    """Of the file, of its batches, of all entries."""
    return (
        OutFile.objects.get().status,
        set(AchBatch.objects.values_list("status", flat=True)),
        sorted(AchEntry.objects.values_list("status", flat=True)),
    )


REJECTED = ("rejected", {"rejected"}, ["requeued"] * 8 + ["waiting"] * 8)
ACCEPTED = ("acknowledged", {"accepted"}, ["accepted"] * 8)


@rounds(8)
def test_one_of_many_confirms_it(round_, answer):
    outcomes = race(lambda worker: confirm(answer, f"usr_{worker}"))

    refused = [each for each in outcomes if isinstance(each, AnswerRefused)]
    assert (outcomes.count(True), len(refused)) == (1, WORKERS - 1)
    assert statuses() == REJECTED


@rounds(8)
def test_one_confirms_or_another_one_rejects(round_, answer):
    def decide(worker):
        if worker % 2:
            return confirm(answer, f"usr_{worker}")
        return spoken.reject(answer.pk, by=f"usr_{worker}", now=FREEZE)

    refused = [each for each in race(decide) if isinstance(each, AnswerRefused)]

    assert len(refused) == WORKERS - 1
    is_confirmed = SpokenAnswer.objects.get().status == "confirmed"
    assert (OutFile.objects.get().status == "sent") != is_confirmed


@rounds(12, quick=2)
def test_the_banks_own_answer_and_theirs_are_never_mixed(round_, answer):
    def act(worker):
        if worker % 2:
            return confirm(answer, f"usr_{worker}")
        return acknowledging.acknowledged(
            answer.file_id,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            now=FREEZE,
        )

    outcomes = race(act)

    errors = [each for each in outcomes if isinstance(each, Exception)]
    assert all(isinstance(each, AnswerRefused) for each in errors)
    answer.refresh_from_db()
    file = OutFile.objects.get()
    assert (answer.status, file.answered_how, statuses()) in (
        ("confirmed", "people", REJECTED),
        ("void", "file", ACCEPTED),
    )


def part_of(answer, *batches):
    return acknowledging.acknowledged(
        answer.file_id,
        verdict=Verdict.PART_REJECTED,
        rejected_batches=dict.fromkeys(batches, "batch_hash"),
        rejected_entries={},
        now=FREEZE,
    )


def of_batches():
    return list(AchBatch.objects.order_by("batch_number").values_list("status", flat=True))


@rounds(12, quick=3)
def test_two_answers_of_the_bank_that_differ_are_never_mixed(round_, answer):
    outcomes = race(lambda worker: part_of(answer, *((1, 2) if worker % 2 else (3, 4))))

    assert True in outcomes
    assert of_batches() in (
        ["rejected", "rejected", "accepted", "accepted"],
        ["accepted", "accepted", "rejected", "rejected"],
    )


@rounds(12, quick=3)
def test_silence_and_a_rejection_are_never_mixed(round_, answer):
    spoken.reject(answer.pk, by="usr_ben", now=FREEZE)

    def act(worker):
        if worker % 2:
            return part_of(answer, 1, 2, 3, 4)
        return acknowledging.acknowledged(
            answer.file_id,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            how=Answered.SILENCE,
            now=FREEZE,
        )

    assert True in race(act)
    assert len(set(of_batches())) == 1
