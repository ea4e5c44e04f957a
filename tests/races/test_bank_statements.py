"""Workers at the same bank statements, and at those of one account."""

from __future__ import annotations

from functools import partial

import pytest

from networks.ach.models import InFile
from reconciliation import reading, taking
from reconciliation.models import BankStatement, StatementLine
from tests.networks.ach.inbound.builders import make_rail
from tests.races.together import rounds, together
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    in_force,
    store,
)

WORKERS = 6
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _rail():
    make_rail()


def days():
    return list(BankStatement.objects.order_by("last_day").values_list("last_day", flat=True))


@rounds(4)
def test_the_same_bytes_at_once_are_one_file(round_):
    in_force()

    files = race(lambda worker: store(bai2_of(MONDAY, 5_000), name=f"{worker}.txt").pk)

    assert len(set(files)) == InFile.objects.count() == 1


@rounds(4)
def test_one_file_is_taken_once(round_):
    in_force()
    file = store(bai2_of(MONDAY, 5_000, -1))

    outcomes = race(lambda _: taking.take(InFile.objects.get(pk=file.pk), now=NOW))

    assert days() == [MONDAY]
    assert StatementLine.objects.count() == 2
    assert None in outcomes


@rounds(4)
def test_files_of_one_account_are_taken_in_order_whoever_is_first(round_):
    in_force()
    store(bai2_of(WEDNESDAY, 3, opening=OPENING + 3))
    store(bai2_of(TUESDAY, 2, opening=OPENING + 1))
    store(bai2_of(MONDAY, 1))

    race(lambda _: reading.read_due(now=NOW))
    reading.read_due(now=NOW)

    assert days() == [MONDAY, TUESDAY, WEDNESDAY]
    assert set(InFile.objects.values_list("status", flat=True)) == {"applied"}


@rounds(4)
def test_a_statement_is_not_forgotten_by_whoever_sees_no_account_yet(round_):
    store(bai2_of(MONDAY, 1))

    race(lambda worker: reading.read_due(now=NOW) if worker else in_force())
    reading.read_due(now=NOW)

    assert days() == [MONDAY]
