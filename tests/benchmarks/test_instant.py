from __future__ import annotations

import pytest

from benchmarks import instant_line
from common import audits
from common.audits import Scope
from devstack.instant import client
from networks.instant import connecting
from tests.devstack.instant.conftest import an_operator


@pytest.mark.django_db
def test_its_rail_is_agreed_as_the_audit_asks():
    """Found: the benchmark put terms in force that the audit log knew nothing of."""
    with an_operator() as running:
        known = client.connection(running.home)
        instant_line.connect(instant_line.Operator(running.home, known))
        connecting.close()

    assert [found for check in audits.checks() for found in check(Scope(full=True))] == []
