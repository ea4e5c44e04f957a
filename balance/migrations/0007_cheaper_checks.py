from __future__ import annotations

from pathlib import Path

from django.db import migrations, models
from django.db.models.expressions import F, Func

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("balance", "0006_labels")]

    operations = [
        *(
            migrations.RemoveConstraint(model_name=model, name=name)
            for model, name in (
                ("balance", "balance_available_in_range"),
                ("balance", "balance_pending_in_range"),
                ("balance", "balance_locked_in_range"),
                ("balancetransaction", "balance_transaction_amount_positive"),
                ("balancetransaction", "balance_transaction_fits_type"),
                ("balancetransaction", "balance_transaction_lock_covered"),
            )
        ),
        migrations.RunSQL(
            (SQL / "cheaper_checks.sql").read_text(),
            reverse_sql="""
            ALTER TABLE balance
                ALTER available TYPE bigint, ALTER pending TYPE bigint, ALTER locked TYPE bigint;
            DROP DOMAIN balance_available, balance_pending, balance_locked;
            DROP FUNCTION balance_line_is_sound;
            """,
        ),
        migrations.AddConstraint(
            model_name="balancetransaction",
            constraint=models.CheckConstraint(
                condition=Func(
                    F("type"),
                    F("amount"),
                    F("available_delta"),
                    F("locked_delta"),
                    F("available_after"),
                    F("locked_after"),
                    function="balance_line_is_sound",
                    output_field=models.BooleanField(),
                ),
                name="balance_transaction_is_sound",
            ),
        ),
    ]
