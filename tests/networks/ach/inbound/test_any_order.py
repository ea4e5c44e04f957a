"""Files of a bank in any order, any number of times, by workers that die: the same books."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from networks.ach.inbound import applying, parsing, reading, storing
from networks.ach.models import AchEntry, AchEvent, Correction, InFile, InRecord
from networks.ach.models.inbound import InFolder
from tests.networks.ach.inbound.builders import (
    NOW,
    RAIL,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_entry,
    returned,
)
from tests.networks.ach.nacha import raw

pytestmark = pytest.mark.django_db


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is undone."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def files(batch):
    """Six entries and what their banks say of them: one comes back twice, one by two records of
    one file, one late, one with a change as well, one short of a cent, one not at all."""
    twice, doubled, late, moved, short, _ = (make_entry(batch, number) for number in range(1, 7))
    AchEntry.objects.filter(pk=late.pk).update(settlement_date="2026-11-17", status="final")
    one = returned(twice)
    contents = [
        answer_file(answer_batch(*one, *returned(doubled, "R02"), *returned(doubled, "R02"))),
        answer_file(answer_batch(*returned(twice), *returned(late, "R01"))),
        answer_file(answer_batch(*one, *returned(short, amount=1))),
        answer_file(
            change_batch(*changed(moved)), answer_batch(*returned(moved), number="0000002")
        ),
        answer_file(change_batch(*changed(moved, "C05", "37"), *changed(short, "C01", "0000"))),
        answer_file(answer_batch(*returned(short), settlement="330"))[:4],
    ]
    return [raw.content(lines) for lines in contents]


def books():
    """Everything that money or a tenant would notice."""
    entries = AchEntry.objects.order_by("id").values_list("id", "status", "code")
    told = AchEvent.objects.filter(voided_at=None).values_list("instruction_id", "kind", "code")
    changes = Correction.objects.values_list("entry_id", "code", "status")
    open_records = InRecord.objects.filter(status="review").values_list("code", flat=True)
    return list(entries), sorted(told), sorted(changes), sorted(open_records)


def read(number, content):
    """Store a file and read what is to be read, dying after each thousandth of it."""
    stored = storing.store(
        rail_id=RAIL, folder=InFolder.INBOUND, name=f"{number}.ach", content=[content], now=NOW
    )
    for _ in range(20):
        file = InFile.objects.get(pk=stored.file.pk)
        if file.status not in {"stored", "parsed"}:
            return
        reading.read(file, is_over=lambda: True, now=NOW)
    raise AssertionError("it never ends")


class TestTheBooks:
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        order=st.permutations(range(6)),
        again=st.lists(st.integers(0, 5), max_size=5),
        together=st.sampled_from([1, 2, 1000]),
    )
    def test_are_the_same_in_any_order(self, files, order, again, together):
        with undone():
            for number, content in enumerate(files):
                read(number, content)
            expected = books()
        with undone(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(parsing, "RECORDS_TOGETHER", together)
            patch.setattr(applying, "RECORDS_TOGETHER", together)
            for number in [*order, *again]:
                read(number, files[number])
            assert books() == expected

    def test_hold_each_return_once(self, files):
        for number, content in enumerate(files):
            read(number, content)

        entries, told, changes, left = books()
        assert [(status, code) for _, status, code in entries] == [
            ("returned", "R01"),
            ("returned", "R02"),
            ("returned", "R01"),
            ("returned", "R01"),
            ("accepted", ""),
            ("accepted", ""),
        ]
        assert [kind for _, kind, _ in told].count("returned") == 4
        assert [(code, status) for _, code, status in changes] == [
            ("C01", "applied"),
            ("C05", "applied"),
            ("C01", "open"),
        ]
        assert left == ["C01", "R01", "R01", "R02"]
