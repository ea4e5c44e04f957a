"""Everybody locks several balances in one order: that of the bytes of the tenants' ids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError

from balance import chains
from balance import services as ledger
from balance.kinds import PostingType
from balance.models import Balance
from common.audits import Scope
from funding.services import lifecycle
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tests.balance.builders import entry, fund
from tests.builders import NOW, make_source
from tests.funding.builders import top_up
from tests.races.together import together, wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)

CREDIT = PostingType.CREDIT
# As bytes, capitals come first; in a dictionary, b comes before C.
FIRST, LAST = "ten_C", "ten_b"


@pytest.fixture
def tenants(db):
    made = [Tenant.objects.create(id=id, name=id, mode="sandbox") for id in (FIRST, LAST)]
    for tenant in made:
        fund(tenant, 10)
    return made


@pytest.fixture
def fundings(tenants):
    """One of each, on its way to its bank."""
    return [top_up(tenant, amount=5, source=make_source(tenant)) for tenant in tenants]


def locked_by_hand(tenants, fundings):
    assert ledger.lock_rows(tenant_ids=[LAST, FIRST]) == set()


def posted_together(tenants, fundings):
    ledger.post_many([entry(tenant, CREDIT, 1) for tenant in reversed(tenants)], now=NOW)


def posted_together_with_a_repeat(tenants, fundings):
    """Which is found when all are locked, and gives the locks back for a moment."""
    repeat = entry(tenants[1], CREDIT, 1)
    ledger.post_many([repeat, entry(tenants[0], CREDIT, 1), repeat], now=NOW)


def given_up_together(tenants, fundings):
    moves = [
        lifecycle.Move(funding=row, target=FundingStatus.FAILED, actor=SYSTEM)
        for row in reversed(fundings)
    ]
    lifecycle.move_many(moves, now=NOW)


@pytest.mark.parametrize(
    "change",
    [locked_by_hand, posted_together, posted_together_with_a_repeat, given_up_together],
)
def test_whoever_waits_for_the_first_has_no_other(tenants, fundings, change):
    def act(_):
        with transaction.atomic():
            change(tenants, fundings)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            ledger.lock_row(tenant_id=FIRST)
            other = pool.submit(together, act, workers=1)
            wait_for_a_lock()
            assert is_free(LAST)
        assert other.result() == [None]
    found = {finding.code for finding in chains.check(Scope(), now=NOW)}
    of_tests = {"funding_posting_orphan", "payment_posting_orphan", "books_clearing"}
    assert found <= of_tests  # their postings have no transfer behind them


def is_free(tenant_id):
    try:
        with transaction.atomic():
            return bool(Balance.objects.select_for_update(nowait=True).get(tenant_id=tenant_id))
    except OperationalError:
        return False


def test_no_collation_of_the_database_decides():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attcollation::regcollation::text FROM pg_attribute"
            " WHERE attrelid = 'balance'::regclass AND attname = 'tenant_id'"
        )
        assert cursor.fetchall() == [('"C"',)]


class TestLockRows:
    def test_waits_for_nobody_if_it_is_not_to(self, tenants):
        with ThreadPoolExecutor(1) as pool, transaction.atomic():
            ledger.lock_row(tenant_id=FIRST)
            assert pool.submit(together, self.skip_locked, workers=1).result() == [{FIRST}]

    def skip_locked(self, _):
        with transaction.atomic():
            return ledger.lock_rows(tenant_ids=[FIRST, LAST], wait=False)

    def test_opens_what_is_missing(self, acme, rival):
        """A tenant that does not exist has none."""
        with transaction.atomic():
            assert ledger.lock_rows(tenant_ids=[acme.pk, rival.pk, "ten_gone"]) == {"ten_gone"}

        assert set(Balance.objects.values_list("tenant_id", "available")) == {
            (acme.pk, 0),
            (rival.pk, 0),
        }

    def test_needs_a_transaction(self, acme):
        with pytest.raises(TransactionManagementError):
            ledger.lock_rows(tenant_ids=[acme.pk])
