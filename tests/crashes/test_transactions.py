"""No block ends in silence after its work was undone, whoever opened it."""

from __future__ import annotations

import contextlib
from functools import partial

import pytest
from django.db import (
    IntegrityError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)

from balance import selectors as balances
from balance import services as ledger
from common.clock import utc_now
from common.database import outages
from common.engine import sql
from common.engine.postgresql.atomic import ConnectionLost, RolledBack
from common.engine.transactions import in_transaction
from funding.services import auto_funding
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tests.builders import make_auto_funding, make_source
from tests.crashes.bomb import Moment, end
from tests.database.refusals import refusing

pytestmark = pytest.mark.django_db(transaction=True)


def rename(name="Changed"):
    sql.rows("UPDATE tenants_tenant SET name = %(name)s", {"name": name})


def name():
    return Tenant.objects.get().name


def pass_over_a_lost_connection():
    """What `evaluate_safely` did: a savepoint, a failure, and somebody who goes on."""
    try:
        with transaction.atomic():
            end(connection.connection)
            rename("never")
    except OperationalError:
        return


@transaction.atomic
def change_and(act, *then):
    """A transaction that changes a name, and goes on as if `act` had worked."""
    rename()
    act()
    for step in then:
        step()


def pass_over_a_failed_save():
    with contextlib.suppress(IntegrityError):
        Tenant.objects.get().save(force_insert=True)


def pass_over_a_failed_statement():
    with contextlib.suppress(ProgrammingError):
        sql.rows("SELECT no_such_column", {})


def fail():
    raise ZeroDivisionError


def undo_on_purpose():
    transaction.set_rollback(True)


class TestALostConnection:
    def test_is_raised_at_the_end_although_its_error_was_passed_over(self, acme):
        with pytest.raises(ConnectionLost) as refusal:
            change_and(pass_over_a_lost_connection)

        assert isinstance(refusal.value.__cause__, OperationalError)
        assert name() == "Acme"

    def test_is_raised_through_a_joined_function(self, acme):
        @in_transaction
        def act():
            rename()
            pass_over_a_lost_connection()
            return "done"

        with pytest.raises(ConnectionLost):
            act()
        assert name() == "Acme"

    @pytest.mark.parametrize("ask", [Tenant.objects.count, rename], ids=["cursor", "direct"])
    def test_is_raised_for_whoever_asks_the_database_next(self, acme, ask):
        with pytest.raises(OperationalError):
            change_and(pass_over_a_lost_connection, ask)

    def test_is_raised_where_the_connection_was_closed_by_our_side(self, acme):
        with pytest.raises(ConnectionLost):
            change_and(connection.close)
        assert name() == "Acme"

    def test_does_not_hide_the_error_that_ends_the_block(self, acme):
        with pytest.raises(ZeroDivisionError):
            change_and(pass_over_a_lost_connection, fail)
        assert name() == "Acme"

    def test_leaves_a_connection_that_works_next_time(self, acme):
        with pytest.raises(ConnectionLost):
            change_and(pass_over_a_lost_connection)

        with transaction.atomic():
            rename("Later")
        assert name() == "Later"


class TestAnErrorThatIsPassedOver:
    def test_of_a_save_is_raised_at_the_end(self, acme):
        with pytest.raises(RolledBack) as refusal:
            change_and(pass_over_a_failed_save)

        assert isinstance(refusal.value.__cause__, IntegrityError)
        assert name() == "Acme"

    def test_of_a_statement_is_raised_by_the_commit(self, acme):
        """PostgreSQL answers ROLLBACK to such a COMMIT, and calls it no error."""
        with pytest.raises(InternalError):
            change_and(pass_over_a_failed_statement)
        assert name() == "Acme"

    def test_of_a_block_with_a_savepoint_harms_nobody(self, acme):
        def save_in_a_block():
            with pytest.raises(IntegrityError), transaction.atomic():
                acme.save(force_insert=True)

        change_and(save_in_a_block)

        assert name() == "Changed"

    def test_in_an_inner_block_is_raised_at_the_end_of_that_block(self, acme):
        with transaction.atomic():
            rename("outer")
            with pytest.raises(RolledBack):
                change_and(pass_over_a_failed_save)
        assert name() == "outer"

    def test_is_not_remembered_in_the_next_transaction(self, acme):
        with pytest.raises(RolledBack):
            change_and(pass_over_a_failed_save)

        assert vars(connections["default"])["rollback_exc"] is None


class TestOnPurpose:
    def test_a_rollback_is_silent(self, acme):
        change_and(undo_on_purpose)

        assert name() == "Acme"

    def test_it_holds_for_one_block(self, acme):
        with pytest.raises(RolledBack):
            change_and(partial(change_and, undo_on_purpose), pass_over_a_failed_save)


class TestEvaluation:
    @pytest.fixture
    def low(self, acme):
        """Whatever is posted makes auto-funding look."""
        source = make_source(acme)
        make_auto_funding(acme, source=source)
        return acme

    def test_a_mistake_in_it_harms_nobody(self, low, log):
        with transaction.atomic():
            rename()
            with refusing("funding_fundingtransaction", on="INSERT"):
                assert not auto_funding.evaluate_safely(tenant_id=low.pk, now=utc_now())
            assert not outages.is_transaction_broken()

        assert name() == "Changed"
        assert log.of("auto_funding_failed")

    @pytest.mark.parametrize("moment", Moment)
    def test_it_hides_no_lost_connection(self, low, bomb, moment):
        """An adjustment that makes it look is stored, or its maker hears that it may not be."""
        lies, at = [], 0
        while bomb.has_gone_off or at == 0:
            at += 1
            id, told = f"adj_{at}", True
            with bomb.armed(at=at, moment=moment):
                try:
                    adjust(low, id)
                except OperationalError:
                    told = False
            connection.close()
            if told and not statement_has(low, id):
                lies.append(at)

        assert (lies, at > 20) == ([], True)


def adjust(tenant, id):
    ledger.adjust(
        id=id,
        tenant_id=tenant.pk,
        type="debit",
        amount=100,
        reason="A correction",
        actor=SYSTEM,
        now=utc_now(),
    )


def statement_has(tenant, id):
    lines = balances.postings_of(tenant_id=tenant.pk, source_type="adjustment", source_id=id)
    return lines.exists()
