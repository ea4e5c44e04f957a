"""Damage of every kind is refused, or found within 15 minutes, or found within a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from balance import invariants
from common import database_clock
from common.clock import utc_now
from seals import rounds, windows
from tests.database import owner
from tests.invariants import books
from tests.invariants.corruptions import TABLE
from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

_AHEAD = timedelta(days=30)  # the bank's days are after today


@pytest.fixture(scope="module")
def names(django_db_setup: None, django_db_blocker: Any) -> Iterator[books.Names]:
    """The books, made once and audited once. Each damage is undone by its test."""
    with django_db_blocker.unblock():
        everything = transaction.atomic()
        everything._from_testcase = True  # type: ignore[attr-defined]  # the sandbox bank commits too
        everything.__enter__()
        try:
            made = books.keep()
            with mock.patch.object(windows, "SPAN_OF_KEPT", _AHEAD):  # one round for all
                rounds.seal_due(now=utc_now() + _AHEAD)
            assert found(full=True) == found(full=False) == set()
            yield made
        finally:
            transaction.set_rollback(True)
            everything.__exit__(None, None, None)


def plant(damage: Damage, names: books.Names) -> None:
    """Do it as the database's owner with all triggers off."""
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        for statement in damage.sql.format(**names).split(";"):
            cursor.execute(statement)
            assert cursor.rowcount > 0, statement


def found(*, full: bool) -> set[str]:
    now = utc_now()
    with database_clock.at(now):
        return {finding.code for finding in invariants.check(now=now, full=full).findings}


def outcome(damage: Damage, names: books.Names) -> tuple[str, set[str]]:
    """What notices it first, and what is said."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                plant(damage, names)
        except (IntegrityError, DatabaseError) as refusal:
            cause: Any = refusal.__cause__
            return REFUSED, {cause.diag.constraint_name or str(refusal).split('"')[3]}
        usual = found(full=False)
        # Nothing that the check of a day finds could change this verdict.
        daily = set() if _beyond_seals(usual) else found(full=True)
        transaction.set_rollback(True)
    if _beyond_seals(usual) or usual - daily:
        return USUAL, usual
    return (DAILY, daily) if _beyond_seals(daily) else (SEAL, usual)


def _beyond_seals(codes: set[str]) -> set[str]:
    """Findings that need no key from outside the database."""
    return {code for code in codes if not code.startswith("seal_")}


@pytest.mark.parametrize("damage", TABLE, ids=lambda damage: damage.name)
def test_it_is_noticed(damage: Damage, names: books.Names) -> None:
    verdict, codes = outcome(damage, names)

    assert (verdict, damage.code in codes) == (damage.verdict, True), codes
