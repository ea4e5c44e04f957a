"""Support closes an account while somebody approves payments in its session (decision 0196)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from approvals.errors import NotAnApprover
from payments.services import approval_settings
from payments.states import PaymentStatus
from tenants.actors import SYSTEM, api_key, staff, user
from tenants.models import Role
from tenants.services import closing, keys
from tests.builders import NOW, make_member, make_staff, make_tenant
from tests.payments.builders import fund
from tests.payments.test_left_payments import MINUTE, pay, run, standing
from tests.payments.test_second_looks import DAY, MUCH, approve, remove
from tests.races.together import wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def team(transactional_db):
    """Up to $10.00 nobody is asked, and there are $1,000.00."""
    tenant = make_tenant()
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(tenant, 100_000)
    return tenant


@pytest.fixture
def dana(team):
    return make_member(team, email="dana@acme.example", role=Role.OWNER)


@pytest.fixture
def sam(transactional_db):
    return staff(make_staff("sam@ballast.example").pk)


@pytest.fixture
def of_a_member(team, dana):
    """A payment that waits for Dana's approval."""
    mia = make_member(team, email="mia@acme.example", role=Role.MEMBER)
    return pay(team, user(mia.pk), amount=MUCH)


def beside(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """What `second` returned or raised, which came while `first` was not committed, and waited."""

    def come() -> Any:
        try:
            return second()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            coming = pool.submit(come)
            wait_for_a_lock()
        return coming.result()


def test_who_approves_their_own_payment_meanwhile_is_no_second_person(team, dana, sam):
    """Found: the closing did not see an approval that was committed while it waited for it."""
    lee = make_member(team, email="lee@acme.example", role=Role.OWNER)
    key = keys.issue(tenant=team, name="Server", actor=user(lee.pk), now=NOW).key
    remove(lee, dana, now=NOW, take_over=[key.pk])
    at = NOW + DAY
    payment = pay(team, api_key(key.pk), amount=MUCH, now=at)

    closed = beside(
        lambda: approve(payment, dana, now=at),
        lambda: closing.close(user_id=dana.pk, actor=sam, now=at + timedelta(seconds=1)),
    )

    assert closed is True
    run(team, now=at + MINUTE)
    assert standing(payment) == (PaymentStatus.CREATED, True)


def test_an_approval_that_came_first_is_stored_before_the_account_is_closed(
    team, dana, sam, of_a_member
):
    """Found: our support read that the account is closed, and an approval of it came after."""
    closed = beside(
        lambda: approve(of_a_member, dana, now=NOW),
        lambda: closing.close(user_id=dana.pk, actor=sam, now=NOW),
    )

    assert closed is True
    run(team, now=NOW)
    assert standing(of_a_member) == (PaymentStatus.PROCESSING, False)


def test_an_approval_that_came_second_is_refused(team, dana, sam, of_a_member):
    refused = beside(
        lambda: closing.close(user_id=dana.pk, actor=sam, now=NOW),
        lambda: approve(of_a_member, dana, now=NOW),
    )

    assert isinstance(refused, NotAnApprover), refused
    assert standing(of_a_member) == (PaymentStatus.CREATED, True)
