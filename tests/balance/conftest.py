"""Books to audit, and to corrupt."""

from __future__ import annotations

import pytest

from balance import services as ledger
from tenants.models import Tenant
from tests.balance.builders import fund, movement


@pytest.fixture
def books(acme: Tenant, rival: Tenant) -> Tenant:
    """Four rows of acme (1,000 in, 300 locked and settled, 200 in) and one of rival."""
    payment = movement(acme, 300)
    fund(acme, 1_000)
    ledger.lock(**payment)
    ledger.settle(**payment)
    fund(acme, 200)
    fund(rival, 50)
    return acme
