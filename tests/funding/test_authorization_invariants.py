"""Debits that were sent without an authorization in force are found, however they came about."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from common import audits
from common.audits import Scope
from funding import invariants
from funding.models import AuthorizedDebit, DebitAuthorization
from funding.transfer import FUNDING
from tenants.models import Mode
from tests.builders import NOW, make_tenant
from tests.database import owner
from tests.funding.agreeing import agree, make_individual, revoke
from tests.funding.builders import top_up
from tests.funding.live_network import connected
from transfers import submission

LATER = NOW + timedelta(minutes=5)
USUAL, FULL = Scope(since=NOW), Scope(full=True)


@pytest.fixture
def funding(db):
    """A debit that was sent, and whose authorization was revoked afterwards."""
    with connected():
        source = make_individual(make_tenant(mode=Mode.LIVE))
        kept = agree(source, amount_max=25_000)
        made = top_up(source.tenant, source=source)
        submission.submit_due(FUNDING, now=LATER)
        revoke(kept, now=LATER + timedelta(minutes=1))
        yield made


def found(scope):
    return [one.message for one in invariants.check_authorizations(scope)]


def plant(statement, **names):
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(statement.format(**names))
        assert cursor.rowcount == 1


@pytest.mark.parametrize("scope", [USUAL, FULL], ids=["usual", "full"])
class TestDamage:
    def test_none_is_found_in_sound_books(self, funding, scope):
        assert not found(scope)

    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            (
                "DELETE FROM funding_authorizeddebit WHERE id = '{debit}'",
                "was sent without an authorization of the account holder",
            ),
            (
                "UPDATE funding_authorizeddebit SET in_force_at = NULL WHERE id = '{debit}'",
                "was sent, and nobody looked at {dau} before",
            ),
            (
                "UPDATE funding_debitauthorization SET ended_at = in_force_at - interval '1 us',"
                " created_at = in_force_at - interval '1 day'"
                " FROM funding_authorizeddebit WHERE funding_debitauthorization.id = '{dau}'",
                "{dau} was not in force when it was sent",
            ),
            (
                "UPDATE funding_debitauthorization SET created_at = '2026-11-20T15:05:00.1Z',"
                " ended_at = '2026-12-01' WHERE id = '{dau}'",
                "{dau} was not in force when it was sent",
            ),
            (
                "UPDATE funding_debitauthorization SET amount_max = 24999 WHERE id = '{dau}'",
                "is more than {dau} allows",
            ),
            (
                "UPDATE funding_debitauthorization SET source_id = '{other}' WHERE id = '{dau}'",
                "draws on another account than {dau}",
            ),
            (
                "UPDATE funding_authorizeddebit SET kind = 'single' WHERE id = '{debit}'",
                "{dau} is not of the kind that it was used as",
            ),
        ],
    )
    def test_is_found(self, funding, scope, statement, message):
        names = {
            "dau": DebitAuthorization.objects.get().pk,
            "debit": AuthorizedDebit.objects.get().pk,
            "other": make_individual(funding.tenant, account_number="7777").pk,
        }

        plant(statement, **names)

        assert found(scope) == [message.format(**names)]


def test_it_is_part_of_every_check_of_the_ledger(funding):
    plant("DELETE FROM funding_authorizeddebit WHERE funding_id = '{id}'", id=funding.pk)

    every = [finding for check in audits.checks() for finding in check(USUAL)]

    assert "funding_unauthorized" in {one.code for one in every}


def test_one_tenant_at_a_time(funding):
    plant("DELETE FROM funding_authorizeddebit WHERE funding_id = '{id}'", id=funding.pk)

    assert not found(Scope(tenant_ids=("ten_other",), full=True))
    assert found(Scope(tenant_ids=(funding.tenant_id,), full=True))
