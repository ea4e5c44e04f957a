"""Statements over many rows: each row as if it had been written alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import DataError, IntegrityError, transaction

from common.engine import many
from funding.models import FundingTransaction
from tenants.models import Mode, Tenant, TenantStatus
from tests.builders import NOW, make_source, make_tenant
from tests.funding.builders import top_up

pytestmark = pytest.mark.django_db
ODD = ["", "NULL", "null", "{a,b}", 'say "no"', "\\", " a\tb\n", "é\u20ac", "'; --", "%(n)s"]


def new_tenant(name="Acme", **fields):
    return Tenant(
        name=name, mode=Mode.SANDBOX, status=TenantStatus.ACTIVE, created_at=NOW, **fields
    )


class TestInsert:
    def test_writes_what_save_would(self, django_assert_num_queries):
        rows = [new_tenant(name) for name in ODD]

        with django_assert_num_queries(1):
            many.insert(rows)

        kept = {tenant.pk: tenant for tenant in Tenant.objects.all()}
        assert [kept[row.pk].name for row in rows] == ODD
        assert {tenant.created_at for tenant in kept.values()} == {NOW}
        rows[0].name = "again"
        rows[0].save(update_fields=["name"])
        assert Tenant.objects.get(pk=rows[0].pk).name == "again"

    def test_takes_a_step_of_the_caller_s_along(self):
        then = "other AS (SELECT %(words)s::text AS words) SELECT words, %(number)s::int FROM other"

        assert many.insert([new_tenant()], then=then, values={"words": "x", "number": 5}) == [
            ("x", 5)
        ]
        assert Tenant.objects.count() == 1

    def test_writes_all_or_none(self):
        row = new_tenant()

        with pytest.raises(IntegrityError), transaction.atomic():
            many.insert([row, new_tenant(id=row.pk)])
        with pytest.raises(DataError), transaction.atomic():
            many.insert([row, new_tenant("x" * 1_000)])  # too long, and not cut off

        assert not Tenant.objects.exists()


class TestSwap:
    def test_changes_the_rows_that_say_what_was_read(self, django_assert_num_queries):
        first, second = make_tenant(name="first"), make_tenant(name="second")
        Tenant.objects.filter(pk=second.pk).update(status="suspended")
        swaps = [
            many.Swap(tenant.pk, "active", "suspended", {"name": odd})
            for tenant, odd in zip((first, second), ('"{', "x"), strict=True)
        ]

        with django_assert_num_queries(1):
            assert many.swap(Tenant, column="status", swaps=swaps) == {first.pk}

        names = dict(Tenant.objects.values_list("pk", "name"))
        assert names == {first.pk: '"{', second.pk: "second"}

    def test_takes_every_type_of_column_that_a_move_fills(self, acme):
        source = make_source(acme)
        rows = [top_up(acme, source=source) for _ in range(2)]
        moment = datetime(2026, 11, 21, 12, 0, 0, 1, tzinfo=UTC)
        values = {
            "network_reference": "a, b",
            "expected_availability_date": moment.date(),
            "pending_at": moment,
            "next_attempt_at": None,
            "event_sequence": 7,
            "requires_confirmation": True,
        }

        moved = many.swap(
            FundingTransaction,
            column="status",
            swaps=[many.Swap(row.pk, "reserved", "pending", values) for row in rows],
        )

        assert moved == {row.pk for row in rows}
        kept = FundingTransaction.objects.values(*values)
        assert list(kept) == [values, values]
