"""Returns meet what is told of the same entries at the same moment, and each other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.state import IllegalTransition
from networks.ach import acknowledging
from networks.ach.inbound import applying, deciding, parsing, reading
from networks.ach.models import AchEntry, AchEvent, InFile, InRecord
from networks.ach.network import AchNetwork
from tests.networks.ach.inbound.builders import (
    NOW,
    RAIL,
    TERMS,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    make_rail,
    returned,
    store,
)
from tests.races.together import rounds, together

pytestmark = pytest.mark.django_db(transaction=True)
BANK = AchNetwork(RAIL)
LATER = NOW + timedelta(days=3)
ENTRIES = 20


@pytest.fixture
def entries(db):
    batch = make_batch(make_rail())
    return [
        make_entry(batch, number, final_due_at=NOW + timedelta(days=1))
        for number in range(1, ENTRIES + 1)
    ]


def returns_of(entries):
    return answer_file(answer_batch(*(line for entry in entries for line in returned(entry))))


def parsed(lines, name="a.ach"):
    file = store(lines, name=name)
    parsing.parse(file, excused=(), now=NOW)
    return InFile.objects.get(pk=file.pk)


def tell_all():
    """What a worker does with what the network says: it stores it, then acknowledges."""
    told = []
    while events := BANK.poll(now=LATER, limit=5):
        told += [(event.instruction_id, str(event.kind)) for event in events]
        BANK.acknowledge([event.id for event in events])
    return told


@rounds(10, quick=2)
def test_a_return_meets_the_end_of_the_time_for_returns(entries, round_):
    file = parsed(returns_of(entries))
    acts = [
        lambda: applying.apply(file, terms=TERMS, now=NOW),
        tell_all,
        lambda: acknowledging.finish_final(now=LATER),
    ]

    done = together(lambda worker: acts[worker](), workers=3)

    assert [each for each in done if isinstance(each, Exception)] == []
    told = [*done[1], *tell_all()]
    for entry in entries:
        of_entry = [kind for name, kind in told if name == entry.instruction_id]
        # It may be final first, and is returned last, once.
        assert (of_entry[-1], of_entry.count("returned")) == ("returned", 1)
        assert set(of_entry) <= {"settled", "final", "returned"}
    assert set(AchEntry.objects.values_list("status", flat=True)) == {"returned"}
    untold = AchEvent.objects.filter(acknowledged=False, voided_at=None)
    assert not untold.exists()


@rounds(5)
def test_two_files_return_the_same_entries(entries, round_):
    one, two = parsed(returns_of(entries)), parsed(returns_of(entries), name="b.ach")

    done = together(
        lambda worker: applying.apply([one, two][worker], terms=TERMS, now=NOW), workers=2
    )

    assert done == [True, True]
    assert AchEvent.objects.filter(kind="returned").count() == ENTRIES
    statuses = InRecord.objects.values_list("status", flat=True)
    assert sorted(statuses) == ["applied"] * ENTRIES + ["review"] * ENTRIES


@rounds(5)
def test_many_workers_read_one_file(entries, round_):
    store(returns_of(entries))

    together(lambda _: reading.read_due(now=NOW), workers=4)

    assert InFile.objects.get().status == "applied"
    assert AchEvent.objects.filter(kind="returned").count() == ENTRIES


@rounds(5)
def test_a_worker_that_outlived_its_lease_applies_the_file_of_another(entries, round_):
    file = parsed(returns_of(entries))
    copies = [InFile.objects.get(pk=file.pk) for _ in range(4)]

    done = together(
        lambda worker: applying.apply(copies[worker], terms=TERMS, now=NOW), workers=len(copies)
    )

    # Whoever finds nothing left to apply finds the file applied, too.
    refused = [each for each in done if isinstance(each, Exception)]
    assert {type(each) for each in refused} <= {IllegalTransition}
    assert len(refused) == len(copies) - 1
    assert InFile.objects.get().status == "applied"
    assert set(InRecord.objects.values_list("status", "note")) == {("applied", "")}
    assert AchEvent.objects.filter(kind="returned").count() == ENTRIES


@rounds(5)
def test_one_file_arrives_many_times_at_once(entries, round_):
    lines = returns_of(entries)

    files = together(lambda worker: store(lines, name=f"{worker}.ach"), workers=6)

    assert len({file.pk for file in files}) == 1
    assert InFile.objects.count() == 1


@rounds(5)
def test_a_person_applies_a_return_while_a_file_does(entries, round_):
    short = [line for entry in entries[:1] for line in returned(entry, amount=1)]
    reading.read(store(answer_file(answer_batch(*short)), name="short.ach"), now=NOW)
    record = InRecord.objects.get(status="review")
    file = parsed(returns_of(entries))
    acts = [
        lambda: applying.apply(file, terms=TERMS, now=NOW),
        lambda: deciding.return_entry(
            record_id=record.pk, entry_id=entries[0].pk, staff="anna", why="it is", now=NOW
        ),
    ]

    together(lambda worker: acts[worker](), workers=2)

    assert AchEvent.objects.filter(kind="returned").count() == ENTRIES
    assert AchEvent.objects.filter(kind="returned", entry=entries[0]).count() == 1
