"""What banks send back about prenotes."""

from __future__ import annotations

import pytest

from networks.ach import prenotes
from networks.ach.models import AchEvent
from networks.ach.states import EntryStatus
from tests.networks.ach.inbound.builders import (
    NOW,
    RAIL,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    records,
    returned,
    take,
    told,
    unsaved_entry,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rail(db):
    return make_rail(prenotes=True)


@pytest.fixture
def batch(rail):
    return make_batch(rail)


@pytest.fixture
def live(batch):
    """An entry that waits until its account was asked about."""
    entry = unsaved_entry(
        batch,
        2,
        in_file=False,
        settled=None,
        status=EntryStatus.WAITING,
        waits_for="prenote",
    )
    entry.save()
    return entry


@pytest.fixture
def prenote(batch, live):
    return make_entry(
        batch,
        instruction_id="prn_1",
        purpose="prenote",
        amount=0,
        transaction_code=28,
        original=live,
    )


def test_a_return_ends_the_entries_that_wait_with_its_code(prenote, live):
    file = take(answer_file(answer_batch(*returned(prenote, "R03"))))

    assert [status for _, status, _ in records(file)] == ["applied"]
    assert prenotes.end_refused(RAIL, now=NOW) == 1
    live.refresh_from_db()
    assert (live.status, live.code) == (EntryStatus.WITHDRAWN, "R03")
    assert told(live) == [("rejected", "R03")]


def test_a_return_is_told_once_however_often_the_sweep_runs(prenote, live):
    take(answer_file(answer_batch(*returned(prenote, "R03"))))

    assert [prenotes.end_refused(RAIL, now=NOW) for _ in range(3)] == [1, 0, 0]
    assert AchEvent.objects.filter(entry=live, kind="rejected").count() == 1


def test_a_return_ends_no_entry_of_another_account(batch, prenote, live):
    other = unsaved_entry(
        batch, 3, account="555", in_file=False, settled=None, status=EntryStatus.WAITING
    )
    other.save()

    take(answer_file(answer_batch(*returned(prenote, "R03"))))

    assert prenotes.end_refused(RAIL, now=NOW) == 1
    other.refresh_from_db()
    assert other.status == EntryStatus.WAITING


def test_a_change_is_told_of_the_entry_that_asked(prenote, live):
    file = take(answer_file(change_batch(*changed(prenote, "C01"))))

    assert [status for _, status, _ in records(file)] == ["applied"]
    event = AchEvent.objects.get(kind="corrected")
    assert event.instruction_id == live.instruction_id
