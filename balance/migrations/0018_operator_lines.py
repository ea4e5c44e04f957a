from pathlib import Path

import django.contrib.postgres.indexes
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

SQL = Path(__file__).parent / "sql" / "operator_lines.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('balance', '0017_totals'),
        ('tenants', '0025_find_sessions'),
    ]

    operations = [
        migrations.CreateModel(
            name='OperatorDay',
            fields=[
                ('pk', models.CompositePrimaryKey('booked_on', 'rail', 'step', blank=True, editable=False, primary_key=True, serialize=False)),
                ('booked_on', models.DateField()),
                ('rail', models.CharField(blank=True, max_length=16)),
                ('step', models.CharField(choices=[('in_settled', 'Money in, settled'), ('in_final', 'Money in, final'), ('in_returned', 'Money in, returned'), ('in_returned_late', 'Money in, returned late'), ('in_charged', 'Money in, charged back'), ('out_settled', 'Money out, settled'), ('out_final', 'Money out, final'), ('out_returned', 'Money out, returned'), ('out_returned_late', 'Money out, returned late'), ('out_given_back', 'Money out, given back'), ('verification_paid', 'Verification, paid'), ('verification_collected', 'Verification, collected'), ('adjusted_up', 'Adjustment, up'), ('adjusted_down', 'Adjustment, down')], max_length=24)),
                ('lines', models.BigIntegerField()),
                ('amount', models.BigIntegerField()),
            ],
            options={
                'db_table': 'balance_operator_day',
            },
        ),
        migrations.CreateModel(
            name='OperatorLine',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('step', models.CharField(choices=[('in_settled', 'Money in, settled'), ('in_final', 'Money in, final'), ('in_returned', 'Money in, returned'), ('in_returned_late', 'Money in, returned late'), ('in_charged', 'Money in, charged back'), ('out_settled', 'Money out, settled'), ('out_final', 'Money out, final'), ('out_returned', 'Money out, returned'), ('out_returned_late', 'Money out, returned late'), ('out_given_back', 'Money out, given back'), ('verification_paid', 'Verification, paid'), ('verification_collected', 'Verification, collected'), ('adjusted_up', 'Adjustment, up'), ('adjusted_down', 'Adjustment, down')], max_length=24)),
                ('amount', models.BigIntegerField()),
                ('rail', models.CharField(blank=True, max_length=16)),
                ('source_type', models.CharField(max_length=32)),
                ('source_id', models.CharField(db_collation='C', max_length=32)),
                ('tenant', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
                ('day', models.DateField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'balance_operator_line',
                'indexes': [django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='operator_line_age')],
                'constraints': [
                    models.UniqueConstraint(fields=('source_id', 'source_type', 'step'), name='operator_line_once'),
                    models.CheckConstraint(condition=models.Q(('amount__gte', 1), ('amount__lte', 1000000000000000), ('step__in', ['in_settled', 'in_final', 'in_returned', 'in_returned_late', 'in_charged', 'out_settled', 'out_final', 'out_returned', 'out_returned_late', 'out_given_back', 'verification_paid', 'verification_collected', 'adjusted_up', 'adjusted_down'])), name='operator_line_is_sound'),
                    models.CheckConstraint(condition=models.Q(('tenant__isnull', False), models.Q(('step__in', ['in_final', 'in_charged', 'out_final', 'out_given_back', 'adjusted_up', 'adjusted_down']), _negated=True), _connector='OR'), name='operator_line_has_its_tenant'),
                    models.CheckConstraint(condition=models.Q(models.Q(('rail', ''), _negated=True), models.Q(('step__in', ['in_settled', 'in_returned', 'in_returned_late', 'out_settled', 'out_returned', 'out_returned_late', 'verification_paid', 'verification_collected']), _negated=True), _connector='OR'), name='operator_line_has_its_rail'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='operatorday',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='7e82f5318fa372f9ddb9b1053081be758efb7471', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_fabc1', table='balance_operator_day', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='operatorday',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='c17b6e54a0b506c71d88749f05248ffe2e68b9a5', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_d5a5a', table='balance_operator_day', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='operatorline',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='acaad24b0c15925a24875597a1c7512d48c6c26e', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_2671c', table='balance_operator_line', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='operatorline',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='a111a444ad7115383c4564e1d4127d5555d64fe1', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_a5f81', table='balance_operator_line', when='BEFORE')),
        ),
        migrations.RunSQL(SQL.read_text(), reverse_sql="DROP FUNCTION balance_book"),
    ]
