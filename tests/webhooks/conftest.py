"""A receiver on loopback, where the settings allow it."""

from __future__ import annotations

import pytest

from tests.receivers import ALLOWED, Receiver


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True
    with Receiver() as running:
        yield running
