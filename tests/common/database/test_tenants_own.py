"""A row that refers to another one of a tenant is of the same tenant, whoever writes it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from common.database.constraints import violated
from tests.builders import make_endpoint, make_source, publish
from tests.database import owner
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db


def funding(acme, rival):
    return top_up(acme), make_source(rival), "source_id", {}


def payment(acme, rival):
    for tenant in (acme, rival):
        fund(tenant, 1_000)
    return pay(acme, 100), pay(rival, 100).recipient, "recipient_id", {}


def delivery(acme, rival):
    unheard = publish(acme)
    make_endpoint(acme)
    publish(acme)
    row = WebhookDelivery.objects.get(tenant=acme)
    return row, make_endpoint(rival), "endpoint_id", {"event_id": unheard}


CASES = pytest.mark.parametrize(
    ("make", "name"),
    [
        (funding, "funding_draws_from_own_source"),
        (payment, "payment_goes_to_own_recipient"),
        (delivery, "delivery_goes_to_own_endpoint"),
    ],
)


def copied(row, **changes):
    """Who owns the tables inserts `row` once more, under another id."""
    columns = {
        field.column: f'"{field.column}"'
        for field in row._meta.local_concrete_fields
        if not field.generated
    }
    values = columns | {"id": "'copy'"} | {name: f"'{value}'" for name, value in changes.items()}
    table = row._meta.db_table
    with owner.as_owner(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns.values())})"
            f" SELECT {', '.join(values[name] for name in columns)} FROM {table} WHERE id = %s",
            [row.pk],
        )
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def refused(row, **changes):
    with pytest.raises(IntegrityError) as refusal:
        copied(row, **changes)
    return violated(refusal.value)


@CASES
def test_refuses_what_is_of_another_tenant(acme, rival, make, name):
    row, others, column, besides = make(acme, rival)

    assert refused(row, **besides, **{column: others.pk}) == name
    assert refused(row, **besides, tenant_id=rival.pk) == name


@CASES
def test_refuses_a_tenant_or_a_row_that_does_not_exist(acme, rival, make, name):
    row, _, column, besides = make(acme, rival)

    assert refused(row, **besides, tenant_id="ten_none") == name
    assert refused(row, **besides, **{column: "none"}) == name
