"""Statements that are compiled once say what the ORM says."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import CharField, Count, Max, Q
from django.test.utils import CaptureQueriesContext

from common.engine import compiled
from common.engine.compiled import Given
from tenants.models import Mode, Tenant
from tests.builders import make_tenant

MODE = Given("mode", CharField())
FIGURES = {
    "number": Count("pk"),
    "live": Count("pk", filter=Q(mode=Mode.LIVE)),
    "last": Max("name"),
}


@pytest.fixture
def tenants(db):
    make_tenant(name="Acme", mode=Mode.LIVE)
    make_tenant(name="Bolt")
    make_tenant(name="Cargo")


def named(*names):
    return [(name,) for name in names]


class TestUnion:
    def test_reads_the_rows_of_each_queryset(self, tenants):
        names = Tenant.objects.order_by("-name").values_list("name")
        first, last = names.filter(name="Acme"), names.exclude(name="Acme")

        assert compiled.union(first, last).rows() == named("Acme", "Cargo", "Bolt")

    def test_takes_what_is_given_at_each_call(self, tenants):
        of_mode = Tenant.objects.filter(mode=MODE).order_by("name").values_list("name")
        statement = compiled.union(of_mode)

        assert statement.rows(mode=Mode.LIVE) == named("Acme")
        assert statement.rows(mode=Mode.SANDBOX) == named("Bolt", "Cargo")

    def test_refuses_to_run_without_a_value(self, tenants):
        statement = compiled.union(Tenant.objects.filter(mode=MODE).values_list("name"))

        with pytest.raises(KeyError, match="mode"):
            statement.rows()

    def test_sends_one_statement(self, tenants):
        statement = compiled.union(*[Tenant.objects.values_list("name")] * 3)

        with CaptureQueriesContext(connection) as captured:
            assert len(statement.rows()) == 9

        assert len(captured) == 1


class TestCounts:
    def test_counts_each_queryset_by_its_name(self, tenants):
        of_mode = Tenant.objects.filter(mode=MODE)
        statement = compiled.counts({"these": of_mode, "all": Tenant.objects.order_by("name")})

        assert dict(statement.rows(mode=Mode.LIVE)) == {"these": 1, "all": 3}

    def test_stops_at_the_most(self, tenants):
        statement = compiled.counts({"all": Tenant.objects.all()}, most=2)

        assert dict(statement.rows()) == {"all": 2}


class TestSums:
    @pytest.mark.parametrize("name", ["Acme", "nobody"])
    def test_say_what_aggregate_says(self, tenants, name):
        rows = Tenant.objects.filter(name=name).order_by("name")
        (found,) = compiled.union(compiled.sums(rows, **FIGURES)).rows()

        assert dict(zip(FIGURES, found, strict=True)) == rows.aggregate(**FIGURES)
