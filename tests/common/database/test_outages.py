"""What is an outage, and what is a mistake of ours."""

from __future__ import annotations

import pytest
from django.db import DataError, InternalError, OperationalError, ProgrammingError
from psycopg import errors

from common.database import outages


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        OperationalError(),
        caused(InternalError(), errors.ReadOnlySqlTransaction()),
        caused(ProgrammingError(), errors.InvalidSqlStatementName()),
        caused(ProgrammingError(), errors.DuplicatePreparedStatement()),
    ],
)
def test_what_another_try_may_mend_is_an_outage(error):
    assert outages.is_outage(error)


@pytest.mark.parametrize(
    "error",
    [
        ValueError(),
        DataError(),
        caused(InternalError(), errors.InternalError_()),
        caused(ProgrammingError(), errors.UndefinedTable()),
    ],
)
def test_a_mistake_of_ours_is_none(error):
    assert not outages.is_outage(error)
