"""What 0011 and 0012 find is the database of the last release, whose processes still run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from common import ids
from funding.models import FundingSource
from tests.builders import NOW
from tests.database import owner

BEFORE = ("funding", "0010_low_balances")
TODAY = ("funding", "0012_the_banks_last_word")


def migrate(target: tuple[str, str]) -> Apps:
    """Bring the database to `target`, as a part of the test's transaction; its models."""
    with connection.cursor() as cursor:  # no table changes while a deferred check of it waits
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with owner.as_owner():
        return MigrationExecutor(connection).migrate([target]).apps


def make_old_source(old: Apps, tenant, **fields):
    """An account as a process of the last release stores it."""
    return old.get_model("funding", "FundingSource").objects.create(
        id=ids.new("fs"),
        tenant_id=tenant.pk,
        type="manual",
        status="active",
        verification_method="sandbox",
        supported_methods=["ach_debit"],
        account_holder_name="Acme Inc",
        account_holder_type="business",
        account_type="checking",
        routing_number="021000021",
        last4="6789",
        fingerprint=ids.new("fp"),
        account_number_token="encrypted",
        created_at=NOW,
        **fields,
    )


@pytest.fixture
def old(db):
    """The models of the last release, with its database."""
    return migrate(BEFORE)


def test_a_return_of_before_ends_the_authorization(acme, old):
    source = make_old_source(old, acme, last_return_code="R10")
    old.get_model("funding", "FundingTransaction").objects.create(
        id=ids.new("ftx"),
        tenant_id=acme.pk,
        source_id=source.pk,
        amount=25_000,
        status="failed",
        method="ach_debit",
        trigger="topup",
        created_by_type="system",
        expected_availability_date=NOW.date(),
        failed_at=NOW,
        returned=True,
        return_code="R10",
        returned_at=NOW,
        network="sandbox",
        created_at=NOW - timedelta(days=3),
        updated_at=NOW,
    )
    other = make_old_source(old, acme)

    migrate(TODAY)

    ended = dict(FundingSource.objects.values_list("pk", "authorization_ended_at"))
    assert ended == {source.pk: NOW, other.pk: None}


def test_processes_of_the_last_release_go_on_with_the_new_database(acme, old):
    today = migrate(TODAY)

    source = make_old_source(old, acme)
    source.last_return_code = "R01"
    source.save(update_fields=["last_return_code"])
    configs = old.get_model("funding", "AutoFundingConfig").objects
    configs.create(id=ids.new("afc"), tenant_id=acme.pk, enabled=False, updated_at=NOW)

    assert configs.get().enabled is False
    assert today.get_model("funding", "FundingSource").objects.get().last_return_code == "R01"
