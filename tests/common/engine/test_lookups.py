from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.engine.lookups import one_of
from networks.sandbox.models import SandboxInstruction
from tenants.models import Tenant
from tests.builders import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows():
    made = [
        SandboxInstruction(
            external_id=f"ftx_{n}", method="ach_debit", amount=1, currency="USD", created_at=NOW
        )
        for n in range(4)
    ]
    return SandboxInstruction.objects.bulk_create(made)


@pytest.mark.parametrize("name", ["pk", "external_id"])
def test_finds_what_in_finds(rows, name):
    every = SandboxInstruction.objects.order_by("pk")
    values = [getattr(row, name) for row in rows[1:3]]

    assert list(every.filter(one_of(name, values))) == rows[1:3]
    assert list(every.exclude(one_of(name, set(values)))) == [rows[0], rows[3]]
    assert every.filter(one_of(name, values), amount=1).update(amount=2) == 2


def test_no_values_find_nothing_and_cost_nothing(rows, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert list(SandboxInstruction.objects.filter(one_of("pk", []))) == []


def test_finds_values_that_need_escaping(acme):
    names = ['a "b"', "c\\d", "{e,f}", "NULL", "g'h"]
    Tenant.objects.filter(pk=acme.pk).update(name=names[0])

    assert Tenant.objects.filter(one_of("name", names)).get() == acme
    assert not Tenant.objects.filter(one_of("name", names[1:])).exists()


def test_the_text_is_the_same_however_many_values(rows):
    with CaptureQueriesContext(connection) as seen:
        for count in (1, 3):
            list(SandboxInstruction.objects.filter(one_of("external_id", ["x"] * count)))

    assert len({each["sql"].partition("ANY")[0] for each in seen}) == 1
    assert all("IN (" not in each["sql"] for each in seen)
