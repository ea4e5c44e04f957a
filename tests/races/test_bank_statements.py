"""Workers at the same bank statements, and at those of one account."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction

from common.errors import StaffRefusal
from networks.ach import proposing
from networks.ach.inbound import storing
from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from networks.ach.models.proposals import ProposalKind
from reconciliation import accounts, reading, taking
from reconciliation.models import BankStatement, StatementFormat, StatementLine
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.races.together import rounds, together, wait_for_a_lock
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    NUMBER,
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


@rounds(4)
def test_an_upload_is_approved_once(round_):
    in_force()
    proposal = uploaded()

    def approve(worker):
        try:
            proposing.approve(proposal.pk, by=f"usr_{worker}", now=NOW)
        except StaffRefusal:
            return False
        return True

    assert race(approve).count(True) == 1
    reading.read_due(now=NOW)
    assert days() == [MONDAY]


@rounds(4)
def test_an_upload_is_approved_or_rejected(round_):
    in_force()
    proposal = uploaded()

    def decide(worker):
        by, is_for = f"usr_{worker}", worker % 2
        try:
            if is_for:
                proposing.approve(proposal.pk, by=by, now=NOW)
            else:
                proposing.reject(proposal.pk, by=by, why="Not the bank's", now=NOW)
        except StaffRefusal:
            return False
        return True

    assert race(decide).count(True) == 1
    reading.read_due(now=NOW)
    proposal.refresh_from_db()
    assert days() == ([MONDAY] if proposal.status == "approved" else [])


@rounds(4)
def test_an_upload_and_the_file_of_the_bank_are_taken_as_one(round_):
    """Whichever is first."""
    in_force()
    proposal = uploaded()

    def come(worker):
        if worker == 0:
            proposing.approve(proposal.pk, by="usr_2", now=NOW)
        elif worker == 1:
            store(bai2_of(MONDAY, 5_000))
        reading.read_due(now=NOW)

    race(come)
    reading.read_due(now=NOW)

    assert days() == [MONDAY]
    assert list(InFile.objects.values_list("status", flat=True)) == ["applied", "applied"]


def uploaded():
    """A proposal to take what somebody uploaded."""
    file = storing.store(
        rail_id=RAIL,
        folder=InFolder.STATEMENTS,
        name="upload.txt",
        content=[bai2_of(MONDAY, 5_000)],
        uploaded_by="usr_x",
        now=NOW,
    ).file
    return proposing.propose(
        ProposalKind.TAKE_STATEMENT,
        rail=RAIL,
        subject=file.pk,
        reason="From the bank's page",
        by="usr_x",
        now=NOW,
    )


def test_an_account_that_begins_anew_gets_the_statement_that_waited_for_it():
    """The old one would have it otherwise, and the new one's first day would never come."""
    old = in_force()
    file = store(bai2_of(MONDAY, 1, opening=OPENING + 7))

    def read():
        try:
            taking.take(file, now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            new = begun_anew(old)
            file.refresh_from_db()
            reader = pool.submit(read)
            wait_for_a_lock()
        reader.result()

    assert InFile.objects.get(pk=file.pk).status == "applied"
    assert BankStatement.objects.get().account == new


def begun_anew(old):
    opening = accounts.Opening(
        rail=old.rail_id,
        number=NUMBER,
        format=StatementFormat.BAI2,
        opened_on=MONDAY,
        cents=OPENING + 7,
    )
    later = NOW + timedelta(seconds=1)
    return accounts.put_in_force(opening, reason="It was more", by="ops", now=later)
