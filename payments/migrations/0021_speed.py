"""How fast a transfer was asked to be; everything until now goes at the usual speed."""

from __future__ import annotations

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0020_account_versions_checked"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
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
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(("speed__in", ["standard", "same_day"])),
                name="payment_speed_known",
            ),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='payment',
            name='payment_terms_never_change',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='payment',
            trigger=pgtrigger.compiler.Trigger(name='payment_terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."recipient_id" IS DISTINCT FROM (NEW."recipient_id") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."method" IS DISTINCT FROM (NEW."method") OR OLD."speed" IS DISTINCT FROM (NEW."speed") OR OLD."network" IS DISTINCT FROM (NEW."network") OR OLD."requires_confirmation" IS DISTINCT FROM (NEW."requires_confirmation"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='0b319003d2701e010f23fae3905d2b0c65ffb7e8', operation='UPDATE', pgid='pgtrigger_payment_terms_never_change_35d62', table='payments_payment', when='BEFORE')),
        ),
    ]
