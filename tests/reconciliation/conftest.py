from __future__ import annotations

import pytest

from tests.networks.ach.inbound import builders
from tests.reconciliation import dishonored, statements, transfers


@pytest.fixture
def rail(db):
    return builders.make_rail()


@pytest.fixture
def account(rail):
    return statements.in_force()


@pytest.fixture
def late(rail, account):
    """A return that came after its time, so that our bank may dishonor it."""
    batch = transfers.batch_of(rail)
    return dishonored.late_return(
        builders.make_entry(batch, 66, settled=statements.MONDAY, status="final")
    )
