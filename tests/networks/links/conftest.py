"""The adapter, connected to the server that plays Plaid."""

from __future__ import annotations

import pytest

from tests.plaid import provider_at


@pytest.fixture
def provider(plaid):
    return provider_at(plaid.url)
