"""The API's own login, as requests have it in production."""

from __future__ import annotations

import pytest
from django.db import connection

from common.database import doors
from tests.database import owner
from tests.funding.builders import top_up
from tests.payments.builders import fund


@pytest.fixture
def door(acme, rival):
    """As in production: another login, which no other role stands behind."""
    for tenant in (acme, rival):
        fund(tenant, 1_000)
        top_up(tenant)
    owner.work_as_superuser()
    door = doors.Login()
    yield door
    with door.open(only_reads=True):
        connection.close()
    owner.work_as_application()
