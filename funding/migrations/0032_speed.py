"""How fast a transfer was asked to be; everything until now goes at the usual speed."""

from __future__ import annotations

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("funding", "0031_deposits_taken_back"),
    ]

    operations = [
        migrations.AddField(
            model_name="fundingtransaction",
            name="speed",
            field=models.CharField(
                choices=[("standard", "Standard"), ("same_day", "Same day")],
                db_default="standard",
                default="standard",
                help_text=(
                    "what was asked for; a network that is not so fast sends it at its usual speed"
                ),
                max_length=8,
            ),
        ),
        AddConstraintNotValid(
            model_name="fundingtransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(("speed__in", ["standard", "same_day"])),
                name="funding_speed_known",
            ),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='fundingtransaction',
            name='terms_never_change',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingtransaction',
            trigger=pgtrigger.compiler.Trigger(name='terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."method" IS DISTINCT FROM (NEW."method") OR OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."retry_of_id" IS DISTINCT FROM (NEW."retry_of_id") OR OLD."speed" IS DISTINCT FROM (NEW."speed"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='eb88be3b192576982defb5a47382bab1d8fb6315', operation='UPDATE', pgid='pgtrigger_terms_never_change_10e3c', table='funding_fundingtransaction', when='BEFORE')),
        ),
    ]
