"""A payment may be asked about once more: it has several approvals, one of them open at most."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import AddIndexOnline

_TABLE = "payments_paymentconfirmation"
_OPEN = "payment_asked_about_once"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payments", "0031_account_version_words")]

    operations = [
        AddIndexOnline(
            model_name="paymentconfirmation",
            index=models.Index(fields=["payment", "created_at"], name="payment_asked_about"),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    [
                        # A build that was cut off leaves an index that refuses nothing for sure.
                        f"DROP INDEX CONCURRENTLY IF EXISTS {_OPEN}",
                        f"CREATE UNIQUE INDEX CONCURRENTLY {_OPEN} ON {_TABLE} (payment_id)"
                        " WHERE decision = 'open'",
                    ],
                    f"DROP INDEX IF EXISTS {_OPEN}",
                ),
            ],
            state_operations=[
                migrations.AddConstraint(
                    model_name="paymentconfirmation",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("decision", "open")), fields=("payment",), name=_OPEN
                    ),
                ),
            ],
        ),
        # AlterField would make the reference anew, and look at all rows for it under a lock.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"ALTER TABLE {_TABLE} DROP CONSTRAINT {_TABLE}_payment_id_key",
                    f"ALTER TABLE {_TABLE} ADD CONSTRAINT {_TABLE}_payment_id_key"
                    " UNIQUE (payment_id)",
                ),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="paymentconfirmation",
                    name="payment",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confirmations",
                        to="payments.payment",
                    ),
                ),
            ],
        ),
    ]
