"""A tenant whose payments a second person approves, and one such payment."""

from __future__ import annotations

import pytest

from balance import invariants
from networks.sandbox.bank import SandboxBank
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import Mode, Role
from tests.builders import NOW, make_member, make_tenant
from tests.payments.asking import CHECKER, DANA, LEE, OWNER, order
from tests.payments.builders import fund


@pytest.fixture
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def live(db, connect, settings):
    """A live tenant, which pays through the sandbox's bank, and whose recipients are not new."""
    settings.RECIPIENT_COOL_DOWN_HOURS = 0
    connect(SandboxBank(), modes=("sandbox", "live"))
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def owner(acme):
    return make_member(acme, email=OWNER, role=Role.OWNER)


@pytest.fixture
def checker(acme):
    return make_member(acme, email=CHECKER, role=Role.APPROVER)


@pytest.fixture
def rule(acme, owner, checker):
    """Payments above $10.00 need a second person; $100.00 is there."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(acme, 10_000)
    return acme


@pytest.fixture
def payment(rule):
    """$50.00, ordered by a program."""
    return order(rule)


@pytest.fixture
def limited(db, connect, settings):
    """A live tenant as every one begins, whose default limit is $10.00; $1,000.00 is there."""
    settings.PAYMENT_APPROVAL_ABOVE = 1_000
    connect(SandboxBank(), modes=("sandbox", "live"))
    tenant = make_tenant(name="Live", mode=Mode.LIVE)
    fund(tenant, 100_000)
    return tenant


@pytest.fixture
def lone_owner(limited):
    """The only one who approves there."""
    return make_member(limited, email=OWNER, role=Role.OWNER)


@pytest.fixture
def team(db):
    """Up to $10.00 nobody is asked. In the sandbox, whose bank takes what is sent."""
    tenant = make_tenant()
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    return tenant


@pytest.fixture
def dana(team):
    return make_member(team, email=DANA, role=Role.OWNER)


@pytest.fixture
def lee(team):
    return make_member(team, email=LEE, role=Role.OWNER)
