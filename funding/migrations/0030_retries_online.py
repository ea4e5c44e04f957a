"""The references and indexes of retries, made while rows are written."""

from django.db import migrations, models
from django.db.migrations.operations.base import Operation

from common.database.operations import AddIndexOnline

_IN_FLIGHT = ("reserved", "awaiting_confirmation", "pending", "in_transit")
_TABLE, _DEBITS = "funding_fundingtransaction", "funding_authorizeddebit"


def _unique(name: str, table: str, column: str, condition: str) -> Operation:
    return migrations.RunSQL(
        [
            # A build that was cut off leaves an index that refuses nothing for sure.
            f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
            f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON {table} ({column}) WHERE {condition}",
        ],
        f"DROP INDEX IF EXISTS {name}",
    )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("funding", "0029_retries")]

    operations = [
        migrations.RunSQL(
            [
                f"""ALTER TABLE {_TABLE} ADD CONSTRAINT funding_retries_a_funding
                FOREIGN KEY (retry_of_id) REFERENCES {_TABLE} (id)
                DEFERRABLE INITIALLY DEFERRED NOT VALID""",
                f"ALTER TABLE {_TABLE} VALIDATE CONSTRAINT funding_retries_a_funding",
            ],
            f"ALTER TABLE {_TABLE} DROP CONSTRAINT funding_retries_a_funding",
        ),
        AddIndexOnline(
            model_name="fundingtransaction",
            index=models.Index(
                condition=models.Q(("retry_of__isnull", False)),
                fields=["retry_of"],
                name="funding_retries",
            ),
        ),
        AddIndexOnline(
            model_name="fundingtransaction",
            index=models.Index(
                condition=models.Q(("retry_of", None), ("return_code__in", ("R01", "R09"))),
                fields=["tenant", "failed_at"],
                name="funding_short_of_funds",
            ),
        ),
        _unique(
            "one_retry_at_a_time",
            _TABLE,
            "retry_of_id",
            "retry_of_id IS NOT NULL AND status IN"
            " ('reserved', 'awaiting_confirmation', 'pending', 'in_transit', 'completed')",
        ),
        _unique(
            "one_debit_per_single_agreement",
            _DEBITS,
            "authorization_id",
            "NOT is_retry AND kind = 'single'",
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS one_debit_per_single_authorization",
            f"CREATE UNIQUE INDEX one_debit_per_single_authorization ON {_DEBITS}"
            " (authorization_id) WHERE kind = 'single'",
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(
                    model_name="authorizeddebit", name="one_debit_per_single_authorization"
                ),
                migrations.AddConstraint(
                    model_name="authorizeddebit",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("is_retry", False), ("kind", "single")),
                        fields=("authorization",),
                        name="one_debit_per_single_agreement",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="fundingtransaction",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(
                            ("retry_of__isnull", False), ("status__in", (*_IN_FLIGHT, "completed"))
                        ),
                        fields=("retry_of",),
                        name="one_retry_at_a_time",
                    ),
                ),
            ],
        ),
    ]
