from __future__ import annotations

import pytest

from tests.networks.ach.inbound import builders
from tests.reconciliation import statements


@pytest.fixture
def rail(db):
    return builders.make_rail()


@pytest.fixture
def account(rail):
    return statements.in_force()
