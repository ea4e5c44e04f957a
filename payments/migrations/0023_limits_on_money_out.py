"""What was paid out by the hour, and a tenant's own limits on it."""

from __future__ import annotations

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0022_speed_checked'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='PaymentTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'scope', 'hour', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
                ('scope', models.CharField(max_length=120)),
                ('hour', models.DateTimeField(help_text='when the hour begins')),
                ('payments', models.BigIntegerField()),
                ('amount', models.BigIntegerField()),
                ('unasked', models.BigIntegerField()),
            ],
            options={
                'indexes': [
                    django.contrib.postgres.indexes.BrinIndex(fields=['hour'], name='payment_total_age'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('amount__gte', 0), ('payments__gte', 0), ('unasked__gte', 0), ('unasked__lte', models.F('amount'))), name='payment_total_in_range'),
                ],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='payment',
            name='payment_terms_never_change',
        ),
        migrations.AddField(
            model_name='payment',
            name='counted_for',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), db_default=[], default=list, editable=False, help_text='the scopes of the totals in which it is counted from `created_at` on', size=None),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='approval_is_default',
            field=models.BooleanField(db_default=False, default=False, help_text="nobody set `approval_threshold` yet: the deployment's applies"),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='cool_down_hours',
            field=models.PositiveSmallIntegerField(blank=True, help_text='how long a recipient is new; empty: as the deployment says for this mode', null=True),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='limits',
            field=models.JSONField(blank=True, help_text="the tenant's own limits on money out (payments/caps.py)", null=True),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='next_limits',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='next_limits_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='next_limits_by',
            field=models.CharField(blank=True, db_default='', max_length=254),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='payment',
            trigger=pgtrigger.compiler.Trigger(name='payment_terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."recipient_id" IS DISTINCT FROM (NEW."recipient_id") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."method" IS DISTINCT FROM (NEW."method") OR OLD."speed" IS DISTINCT FROM (NEW."speed") OR OLD."network" IS DISTINCT FROM (NEW."network") OR OLD."requires_confirmation" IS DISTINCT FROM (NEW."requires_confirmation") OR OLD."counted_for" IS DISTINCT FROM (NEW."counted_for"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='425ef7af4f240fb531dd4b1b84a5c0fceca74ae0', operation='UPDATE', pgid='pgtrigger_payment_terms_never_change_35d62', table='payments_payment', when='BEFORE')),
        ),
        AddConstraintNotValid(
            model_name='paymentsettings',
            constraint=models.CheckConstraint(condition=models.Q(('next_limits', None), ('next_limits_at__isnull', False), _connector='OR'), name='next_payment_limits_dated'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='paymenttotal',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='ed755f2d15336248f23b4f3afa02fdfc5eed98ac', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_16845', table='payments_paymenttotal', when='BEFORE')),
        ),
    ]
