from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.db import connection

from common.engine import arrays


def read(literal, kind):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT %s::{kind}[]", [literal])
        return cursor.fetchone()[0]


@pytest.mark.django_db
class TestArrays:
    def test_texts_come_back_as_they_were(self):
        texts = ["", "a", "NULL", "{a,b}", 'say "no"', "\\", '\\"', " a\tb\n", "é\u20ac", "'; --"]

        assert read(arrays.texts(texts), "text") == texts

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([1, None, -3], "int"),
            ([True, False], "bool"),
            ([datetime(2026, 11, 21, 12, 0, 0, 1, tzinfo=UTC), None], "timestamptz"),
        ],
    )
    def test_plain_values_and_nothing(self, values, kind):
        assert read(arrays.plain(values), kind) == values

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([1, None, -3], "int"),
            ([True, False, None], "bool"),
            ([datetime(2026, 11, 21, 12, 0, 0, 1, tzinfo=UTC), None], "timestamptz"),
            ([date(2026, 11, 21), None], "date"),
            (["", None, "NULL", 'say "\\"'], "text"),
        ],
    )
    def test_values_of_any_one_type(self, values, kind):
        assert read(arrays.mixed(values), kind) == values

    def test_may_be_empty(self):
        assert read(arrays.texts([]), "text") == []
