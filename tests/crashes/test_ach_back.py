"""The database connection ends at any call while a file from a bank is stored, read and applied:
the next run goes on, and each return counts once."""

from __future__ import annotations

import json

import pytest
from django.db import Error as DatabaseProblem
from django.db import connection

from networks.ach.inbound import applying, parsing, reading
from networks.ach.models import AchEntry, AchEvent, Correction, InFile, InRecord
from networks.ach.models.inbound import InFolder
from tests.crashes import bomb as bombs
from tests.crashes.bomb import Moment
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    returned,
    store,
    told,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

STEP = 5


@pytest.fixture(autouse=True)
def _in_small_pieces(monkeypatch):
    monkeypatch.setattr(parsing, "RECORDS_TOGETHER", 2)
    monkeypatch.setattr(applying, "RECORDS_TOGETHER", 2)


@pytest.fixture
def bomb():
    with bombs.planted() as planted:
        yield planted


class Lives:
    """Entries of one rail, some of which come back in every life."""

    def __init__(self) -> None:
        self.batch = make_batch(make_rail())
        self.number = 0

    def file(self):
        """Three entries that come back, one of them twice, and one that is corrected."""
        entries = []
        for _ in range(4):
            self.number += 1
            entries.append(make_entry(self.batch, self.number))
        one, two, three, moved = entries
        pairs = [*returned(one), *returned(two, "R02"), *returned(two, "R02"), *returned(three)]
        lines = answer_file(answer_batch(*pairs), change_batch(*changed(moved), number="0000002"))
        return entries, lines


def one_life(lives, bomb, at, moment=Moment.BEFORE):
    """Store and read a file with one death; returns how many calls there were."""
    entries, lines = lives.file()
    with bomb.armed(at=at, moment=moment):
        try:
            go_through(lines)
        except DatabaseProblem:
            connection.close()
    InFile.objects.exclude(next_attempt_at=None).update(leased_until=None, next_attempt_at=NOW)
    go_through(lines)
    one, two, three, moved = entries
    for entry, code in ((one, "R01"), (two, "R02"), (three, "R01")):
        assert told(entry) == [("returned", code)]
    assert sorted(told(moved)) == [("corrected", "C01"), ("final", ""), ("settled", "")]
    return bomb.calls


def go_through(lines):
    store(lines)
    reading.read_due(now=NOW)


def deaths(bomb, *, step):
    lives = Lives()
    calls = one_life(lives, bomb, at=None)
    assert calls > 40
    count, points = 1, 0
    for moment in Moment:
        for at in range(1, calls + 1, step):
            one_life(lives, bomb, at, moment)
            count += 1
            points += bomb.has_gone_off
    assert points > 2 * calls // step * 0.9
    assert AchEntry.objects.filter(status="returned").count() == 3 * count
    assert AchEvent.objects.filter(kind="returned").count() == 3 * count
    assert InRecord.objects.filter(status="review").count() == count
    assert Correction.objects.count() == count
    assert_all_applied()


def assert_all_applied():
    """And nobody takes any of them up again."""
    assert set(InFile.objects.values_list("status", "next_attempt_at")) == {("applied", None)}


def test_deaths_at_a_sample_of_calls(bomb):
    deaths(bomb, step=STEP)


@pytest.mark.slow
def test_deaths_at_every_call(bomb):
    deaths(bomb, step=1)


def acknowledged(batch, bomb, at, moment=Moment.BEFORE):
    """Read what the bank says of a file, with one death; returns how many calls there were."""
    entry = make_entry(batch, batch.pk, status="sent", accepted_at=None, settled=None)
    said = {
        "type": "file",
        "file": batch.file.remote_name,
        "sha256": batch.file.sha256,
        "verdict": "accepted",
        "reasons": [],
        "accepted": {"entries": 0, "debit": 0, "credit": 0},
    }
    lines = [said, {"type": "end", "lines": 2}]
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    store(content, folder=InFolder.ACK, name=f"{batch.pk}.jsonl", rail=batch.file.rail_id)
    with bomb.armed(at=at, moment=moment):
        try:
            reading.read_due(now=NOW)
        except DatabaseProblem:
            connection.close()
    InFile.objects.exclude(next_attempt_at=None).update(leased_until=None, next_attempt_at=NOW)
    reading.read_due(now=NOW)
    assert [kind for kind, _ in told(entry)] == ["accepted", "settled", "final"]
    return bomb.calls


def test_deaths_while_an_acknowledgment_is_read(bomb):
    rail = make_rail()
    calls = acknowledged(make_batch(rail), bomb, at=None)
    assert calls > 10
    for moment in Moment:
        for at in range(1, calls + 1):
            acknowledged(make_batch(rail), bomb, at, moment)
            assert bomb.has_gone_off
    assert_all_applied()
