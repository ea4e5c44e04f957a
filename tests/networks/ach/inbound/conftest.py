from __future__ import annotations

import pytest

from tests.networks.ach.inbound import builders


@pytest.fixture
def rail(db):
    return builders.make_rail()


@pytest.fixture
def batch(rail):
    return builders.make_batch(rail)


@pytest.fixture
def entry(batch):
    return builders.make_entry(batch)
