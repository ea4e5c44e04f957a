"""Errors in ten banking days, each planted by itself: the full check names it, the database
refuses it, or a day stays open and says why."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import DatabaseError, connection, transaction

from balance import invariants
from common import database_clock
from reconciliation import closing as days
from reconciliation.models import ClosedDay
from seals import rounds, windows
from tests.database import owner
from tests.devstack.odfi.conftest import Bank, a_bank
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import recorded
from tests.reconciliation.planted import AT_THE_BANK, IN_OUR_BOOKS, Mistaken, Planted
from tests.reconciliation.quarter import CLOCK, FEE, Quarter, banking_days, beginning

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.timeout(600)]

_DAYS, _TRANSFERS = 10, 40
_MORNINGS = 4  # after which a line is in transit for too long
_LONG = timedelta(days=60)  # longer than all of these days: one round seals them
# Of what settled the day before, two debits that can come back.
_SETTLED = """
SELECT trace FROM entry WHERE status = 'settled' AND effect > 0 AND settles_at > ?
ORDER BY id DESC LIMIT 2
"""


@pytest.fixture(scope="module")
def lived(django_db_setup: None, django_db_blocker: Any) -> Iterator[Quarter]:
    """The evening of the tenth day, once for all errors: nine days are closed, and nothing is
    wrong. Each error is undone by its test."""
    with django_db_blocker.unblock(), ExitStack() as ends:
        bank = ends.enter_context(a_bank("--clock", CLOCK))
        everything = transaction.atomic()
        everything._from_testcase = True  # type: ignore[attr-defined]  # sweeps commit, too
        everything.__enter__()
        try:
            quarter = _live(bank, ends)
            connection.check_constraints()  # now, and not when an error is planted
            _seal(quarter)
            assert found(quarter) == set()
            yield quarter
        finally:
            transaction.set_rollback(True)
            everything.__exit__(None, None, None)


def _live(bank: Bank, ends: ExitStack) -> Quarter:
    lives = beginning(bank, tenants=4, days=_DAYS, transfers=_TRANSFERS, quiet_days=0)
    quarter = ends.enter_context(lives)
    quarter.pass_by()
    bank.ask("charge", amount=FEE)
    for (trace,) in recorded(bank, _SETTLED, quarter.days[-1].isoformat()):
        bank.ask("send_back", trace=trace, code="R01")
    quarter.goes_on(quarter.days[-1], "18:30")
    assert [row.day for row in ClosedDay.objects.order_by("day")] == quarter.days[:-1]
    return quarter


def _seal(quarter: Quarter) -> None:
    with (
        database_clock.at(quarter.now + timedelta(hours=1)),
        mock.patch.object(windows, "SPAN_OF_KEPT", _LONG),
    ):
        rounds.seal_due(now=quarter.now + timedelta(hours=1))


def found(quarter: Quarter) -> set[str]:
    """The codes of the full check's findings."""
    now = quarter.now + timedelta(hours=2)
    with database_clock.at(now):
        return {finding.code for finding in invariants.check(now=now, full=True).findings}


@pytest.mark.parametrize("error", IN_OUR_BOOKS, ids=lambda error: error.name)
def test_the_full_check_names_it(error: Planted, lived: Quarter) -> None:
    try:
        with transaction.atomic():
            _plant(error.sql)
    except DatabaseError as refusal:
        cause: Any = refusal.__cause__
        named = {cause.diag.constraint_name}
    else:
        named = found(lived)

    assert error.code in named


def _plant(sql: str) -> None:
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        for statement in sql.split(";"):
            cursor.execute(statement)
            assert cursor.rowcount > 0, statement


@pytest.fixture
def evening(lived: Quarter) -> Iterator[Quarter]:
    """Before the bank writes its statement. It forgets what it does afterwards."""
    bank, now = lived.bank, lived.now
    kept = bank.home.with_name("kept")
    bank.end()
    shutil.copytree(bank.home, kept, copy_function=_keep, ignore=shutil.ignore_patterns("*.sock"))
    bank.start()
    yield lived
    bank.end()
    shutil.rmtree(bank.home)
    kept.rename(bank.home)
    bank.start()
    lived.now = now


def _keep(source: str, copy: str) -> None:
    """Copy the bank's record, and link any other file: the bank knows by its inode that it took
    one."""
    if Path(source).name.startswith("bank.sqlite3"):
        shutil.copy2(source, copy)
    else:
        os.link(source, copy)


def test_without_an_error_every_day_closes(evening: Quarter) -> None:
    for _ in range(_MORNINGS):
        evening.next_morning()

    assert _open_day(evening) == (None, "")
    assert ClosedDay.objects.count() == _DAYS - 1 + _MORNINGS


@pytest.mark.parametrize("error", AT_THE_BANK, ids=lambda error: error.name)
def test_a_day_stays_open_and_says_why(error: Mistaken, evening: Quarter) -> None:
    _mistake(evening.bank, error.sql)

    for _ in range(error.mornings):
        evening.next_morning()

    day, why = _open_day(evening)
    assert day == _day_after(evening.days[-1], error.mornings - 1)
    assert error.says in why


def _day_after(day: date, number: int) -> date:
    """So many banking days later."""
    return next(islice(banking_days(day), number, None))


def _mistake(bank: Bank, sql: str) -> None:
    with closing(sqlite3.connect(bank.home / "bank.sqlite3")) as db:
        before = db.total_changes
        db.executescript(sql)
        assert db.total_changes > before, sql


def _open_day(quarter: Quarter) -> tuple[date | None, str]:
    """The day that stays open, and what is said about it."""
    outcome = days.close_all(RAIL, now=quarter.now)
    return outcome.open_day, " ".join(outcome.reasons)
