"""The seal reads what was written between two moments: an index for each table without one.

They are of this app, not of the tables' own, because nobody else needs them. BRIN: some pages for
a million rows. CONCURRENTLY: nobody waits while they are made. A build that was cut off leaves an
index that is not valid, which is why the same name is dropped first.
"""

from __future__ import annotations

from django.db import migrations

INDEXES = (
    ("tenants_auditevent", "created_at"),
    ("balance_adjustment", "created_at"),
    ("balance_adjustment_proposal", "decided_at"),
    ("funding_autofundingdecision", "created_at"),
    ("funding_fundingsource", "created_at"),
    ("funding_fundingtransaction", "created_at"),
    ("payments_payment", "created_at"),
    ("payments_recipient", "created_at"),
    ("network_inbox_inboundevent", "received_at"),
)


def _index(table: str, column: str) -> migrations.RunSQL:
    name = f"{table}_age"
    return migrations.RunSQL(
        [
            f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
            f"CREATE INDEX CONCURRENTLY {name} ON {table}"
            f" USING brin ({column}) WITH (autosummarize = on)",
        ],
        reverse_sql=f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
    )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("seals", "0001_initial"),
        ("tenants", "0001_initial"),
        ("balance", "0005_proposals"),
        ("funding", "0001_initial"),
        ("payments", "0001_initial"),
        ("network_inbox", "0001_initial"),
    ]

    operations = [_index(table, column) for table, column in INDEXES]
