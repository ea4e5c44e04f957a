"""django-hordak: `Account.transfer_to`, alone or behind a look at the balance."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

# Entries of the account that is looked at. Its constraint triggers would take minutes: off here.
_FILL = """
SET LOCAL session_replication_role = replica;
INSERT INTO hordak_transaction (uuid, timestamp, date, description)
SELECT gen_random_uuid(), now(), now(), 'x' FROM generate_series(1, {entries});
INSERT INTO hordak_leg (uuid, transaction_id, account_id, {columns}, description)
SELECT gen_random_uuid(), id, {account}, {values}, 'x' FROM hordak_transaction
"""


def prepare(entries: str) -> Callable[[], object]:
    """A transfer of a dollar. `entries` above 0: only if a balance over so many covers it."""
    from django.db import connection, transaction
    from hordak.models import Account, AccountType
    from moneyed import Money

    names = {"type": AccountType.liability, "currencies": ["USD"]}
    payer = Account.objects.create(name="payer", code="1", **names)
    payee = Account.objects.create(name="payee", code="2", **names)
    if int(entries):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                _FILL.format(
                    entries=int(entries),
                    account=payer.pk,
                    columns="credit, currency",
                    values="1000, 'USD'",
                )
            )
    dollar = Money(Decimal(1), "USD")

    def transfer() -> None:
        with transaction.atomic():
            if int(entries):
                locked = Account.objects.select_for_update().get(pk=payer.pk)
                if locked.get_balance()["USD"] < dollar:
                    raise ValueError("not covered")
            payee.transfer_to(payer, dollar, description="x")

    return transfer
