"""The bomb, for tests that end a connection at a database call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from tests.crashes.bomb import Bomb, planted
from tests.crashes.stored import Stored


@pytest.fixture
def bomb() -> Iterator[Bomb]:
    with planted() as it:
        yield it
    connection.close()  # the next test gets one that works


@pytest.fixture
def stored(db: None) -> Iterator[Stored]:
    it = Stored()
    yield it
    it.close()
