"""A tenant's bank account, the settings that draw on it, and an approval to approvers."""

from __future__ import annotations

import pytest

from funding.models import Confirmation
from funding.services import auto_funding
from tests.builders import NOW, make_auto_funding, make_source
from tests.funding.asking import BOSS, CFO


@pytest.fixture
def source(acme):
    return make_source(acme)


@pytest.fixture
def config(acme, source):
    return make_auto_funding(acme)


@pytest.fixture
def approval(acme):
    """An automatic funding of $500.00 that boss and CFO are asked about."""
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=[BOSS, CFO])
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    return Confirmation.objects.get()
