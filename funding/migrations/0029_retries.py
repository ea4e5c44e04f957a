"""A returned funding may be tried once more, by people or by the tenant's rule."""

import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("funding", "0028_deposit_entries"),
        ("tenants", "0011_no_second_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="RetryRule",
            fields=[
                ("id", common.fields.PrefixedIdField("rtr")),
                ("times", models.PositiveSmallIntegerField()),
                ("after_days", models.PositiveSmallIntegerField()),
                ("since", models.DateTimeField()),
                (
                    "tenant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("times__range", (0, 2))), name="retried_twice_at_most"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("after_days__range", (1, 10))),
                        name="retried_within_ten_days",
                    ),
                ],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='authorizeddebit',
            name='authorized_debit_unchanged',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='fundingtransaction',
            name='terms_never_change',
        ),
        migrations.AddField(
            model_name='authorizeddebit',
            name='is_retry',
            field=models.BooleanField(db_default=False, default=False, help_text='the debit that was authorized, once more after it came back'),
        ),
        migrations.AddField(
            model_name='fundingtransaction',
            name='retry_of',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, help_text='the returned funding that this one tries once more', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='retries', to='funding.fundingtransaction'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='authorizeddebit',
            trigger=pgtrigger.compiler.Trigger(name='authorized_debit_unchanged', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."funding_id" IS DISTINCT FROM (NEW."funding_id") OR OLD."authorization_id" IS DISTINCT FROM (NEW."authorization_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."is_retry" IS DISTINCT FROM (NEW."is_retry") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d510e3156646261e8172340603253f579a31d78e', operation='UPDATE', pgid='pgtrigger_authorized_debit_unchanged_ea9a0', table='funding_authorizeddebit', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingtransaction',
            trigger=pgtrigger.compiler.Trigger(name='terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."method" IS DISTINCT FROM (NEW."method") OR OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."retry_of_id" IS DISTINCT FROM (NEW."retry_of_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='abd8515a08c5aea4934877fe2e25de19a460354a', operation='UPDATE', pgid='pgtrigger_terms_never_change_10e3c', table='funding_fundingtransaction', when='BEFORE')),
        ),
    ]
