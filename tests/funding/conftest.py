"""A tenant's bank account, and the settings that draw on it."""

from __future__ import annotations

import pytest

from tests.builders import make_auto_funding, make_source


@pytest.fixture
def source(acme):
    return make_source(acme)


@pytest.fixture
def config(acme, source):
    return make_auto_funding(acme)
