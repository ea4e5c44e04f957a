"""Many tenants with many rows, copied inside PostgreSQL: what a plan reads is seen only beside rows
that it must not read."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.apps import apps
from django.db import connection, models

from common.database import walls
from tenants.models import Tenant
from tests.database import owner

# Of ids of ours the last digits are replaced, so that references go on naming their rows.
_ID = "'^[a-z]{2,4}_[0-9a-z]{26}$'"
_DIGITS = 5
_APART = 10_000_000  # numbers that count by themselves
# People are of several tenants, so nobody is copied; nor is what belongs to a person alone.
_NOT_COPIED = {"tenants_user", "mfa_authenticator"}
# Columns that are unique by themselves and hold no id of ours.
_UNIQUE = {"digest", "prefix", "event_id"}
# Bytes that pages read.
_READ = {"body"}


TENANTS = 60
ROWS = 60
# Tables of which a tenant has many rows, so that a limit that does not reach the index is seen.
LONG = frozenset(
    {
        "api_apirequest",
        "balance_transaction",
        "funding_autofundingdecision",
        "funding_fundingevent",
        "funding_fundingtransaction",
        "payments_payment",
        "payments_paymentevent",
        "tenants_auditevent",
        "webhooks_webhookattempt",
        "webhooks_webhookdelivery",
        "webhooks_webhookevent",
    }
)


def around(tenant: Tenant, *, like: Tenant) -> None:
    """Give `tenant` long lists, beside many tenants like the other one."""
    of_tenants(like.pk, count=TENANTS)
    analyze()
    of_rows(tenant.pk, count=ROWS, tables=LONG)
    analyze()


def of_tenants(like: str, *, count: int) -> None:
    """Make `count` tenants more, each with all rows that the tenant `like` has."""
    _copied(_walled(), like, count, same_tenant=False)


def of_rows(tenant_id: str, *, count: int, tables: Collection[str]) -> None:
    """Make `count` copies of the tenant's rows in these tables."""
    chosen = [model for model in _walled() if model._meta.db_table in tables]
    _copied(chosen, tenant_id, count, same_tenant=True)


def analyze() -> None:
    """Tell the planner how many rows there are."""
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(model._meta.db_table for model in _walled())}")


def _walled() -> list[type[models.Model]]:
    tables = walls.of_tables().keys() - _NOT_COPIED
    known = apps.get_models(include_auto_created=True)
    return [model for model in known if model._meta.db_table in tables]


def _copied(
    chosen: Collection[type[models.Model]], tenant_id: str, count: int, *, same_tenant: bool
) -> None:
    """As the tenant's own wall shows its rows; without triggers, which judge one row at a time."""
    seen = walls.of_tables()
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SELECT set_config('ballast.tenant', %s, true)", [tenant_id])
        for model in chosen:
            table = model._meta.db_table
            names, values = zip(*_columns(model, same_tenant=same_tenant), strict=True)
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(names)})"
                f" SELECT {', '.join(values)} FROM"
                f" (SELECT * FROM {table} WHERE {seen[table].visible}) AS {table},"
                f" generate_series(1, {count}) AS n"
                " ON CONFLICT DO NOTHING"
            )
        cursor.execute("SELECT set_config('ballast.tenant', '', true)")


def _columns(model: type[models.Model], *, same_tenant: bool) -> Iterator[tuple[str, str]]:
    for field in model._meta.concrete_fields:
        if not field.generated:
            name = str(field.column)
            kept = same_tenant and name == "tenant_id"
            yield f'"{name}"', f'"{name}"' if kept else _value(field, f'"{name}"', same_tenant)


def _value(field: models.Field[object, object], name: str, same_tenant: bool) -> str:
    target = field.target_field if isinstance(field, models.ForeignKey) else field
    counts = isinstance(target, models.AutoField) or (target.primary_key and field.column != "id")
    if isinstance(target, models.IntegerField) and counts:
        return f"{name} + n * {_APART}"
    if same_tenant and field.column == "sequence":
        return f"{name} + n * 100"
    if isinstance(target, models.BinaryField) and field.column not in _READ:
        return f"decode(md5(encode({name}, 'hex') || n), 'hex')"
    if not isinstance(target, models.CharField | models.TextField):
        return name
    if field.column in _UNIQUE:
        return f"left(md5({name} || n), length({name}))"
    return (
        f"CASE WHEN {name} ~ {_ID} AND {name} NOT LIKE 'usr%%'"
        f" THEN left({name}, -{_DIGITS}) || lpad(n::text, {_DIGITS}, '0') ELSE {name} END"
    )
