import common.fields
import django.db.models.deletion
import django.db.models.expressions
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('ach', '0014_statements'),
    ]

    operations = [
        migrations.CreateModel(
            name='SettlementAccount',
            fields=[
                ('id', common.fields.PrefixedIdField('sac')),
                ('number_token', models.TextField(editable=False)),
                ('fingerprint', models.CharField(editable=False, max_length=64)),
                ('last4', models.CharField(max_length=4)),
                ('format', models.CharField(choices=[('bai2', 'BAI2'), ('camt', 'camt.053')], max_length=4)),
                ('opened_on', models.DateField()),
                ('opening', models.BigIntegerField()),
                ('status', models.CharField(choices=[('proposed', 'Another person decides'), ('current', 'In force'), ('rejected', 'Rejected')], default='proposed', max_length=8)),
                ('by_command', models.BooleanField(default=False)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('proposed_by', models.CharField(blank=True, max_length=254)),
                ('proposed_at', models.DateTimeField()),
                ('decided_by', models.CharField(blank=True, max_length=254)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('rail', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='settlement_accounts', to='ach.achrail')),
            ],
            options={
                'verbose_name': 'settlement account',
                'permissions': (('propose_settlementaccount', 'Can propose a settlement account'), ('approve_settlementaccount', 'Can approve a settlement account')),
            },
        ),
        migrations.CreateModel(
            name='BankStatement',
            fields=[
                ('id', common.fields.PrefixedIdField('bst')),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(blank=True, max_length=80)),
                ('first_day', models.DateField()),
                ('last_day', models.DateField()),
                ('opening', models.BigIntegerField()),
                ('credits', models.BigIntegerField()),
                ('debits', models.BigIntegerField()),
                ('closing', models.BigIntegerField()),
                ('line_count', models.PositiveIntegerField()),
                ('lines_digest', models.CharField(max_length=64)),
                ('taken_at', models.DateTimeField()),
                ('file', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='statements', to='ach.infile')),
                ('follows', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='followed_by', to='reconciliation.bankstatement')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='statements', to='reconciliation.settlementaccount')),
            ],
            options={
                'verbose_name': 'bank statement',
                'permissions': (('upload_bankstatement', 'Can upload a bank statement'),),
            },
        ),
        migrations.CreateModel(
            name='StatementLine',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField()),
                ('amount', models.BigIntegerField()),
                ('booked_on', models.DateField()),
                ('value_on', models.DateField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('credit', 'Credit'), ('debit', 'Debit'), ('batch', 'Batch'), ('return', 'Return'), ('reversal', 'Reversal'), ('fee', 'Fee'), ('interest', 'Interest'), ('unknown', 'Unknown')], max_length=8)),
                ('type_code', models.CharField(blank=True, max_length=40)),
                ('return_code', models.CharField(blank=True, max_length=40)),
                ('is_reversal', models.BooleanField()),
                ('references', models.JSONField(blank=True, default=dict)),
                ('digest', models.CharField(max_length=64)),
                ('said_token', models.TextField(blank=True, editable=False)),
                ('taken_at', models.DateTimeField()),
                ('statement', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='reconciliation.bankstatement')),
            ],
            options={
                'verbose_name': 'line of a bank statement',
                'verbose_name_plural': 'lines of bank statements',
                'permissions': (('reveal_statementline', 'Can read what a line says of people'),),
            },
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['proposed', 'current', 'rejected'])), name='settlement_account_status_known'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(('format__in', ['bai2', 'camt'])), name='settlement_account_format_known'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'proposed')), fields=('rail', 'fingerprint'), name='one_proposed_settlement_account'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(('opening__gte', 0)), name='settlement_account_opens_with_money'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('proposed_by', ''), _negated=True), models.Q(('reason', ''), _negated=True)), name='settlement_account_says_why'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(('by_command', True), models.Q(('decided_by', models.F('proposed_by')), _negated=True), _connector='OR'), name='settlement_account_decided_by_another'),
        ),
        migrations.AddConstraint(
            model_name='settlementaccount',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('decided_by', ''), ('status', 'proposed')), models.Q(models.Q(('status', 'proposed'), _negated=True), ('decided_at__isnull', False), models.Q(('decided_by', ''), _negated=True)), _connector='OR'), name='settlement_account_decided_iff_dated'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='settlementaccount',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='10f9d7054be7d64c8ac1cc0b666f79e1e52ac6c1', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_4a9ec', table='reconciliation_settlementaccount', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='settlementaccount',
            trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='73c0f64ecc0a310d73c42e19353dfbe4a072810a', operation='DELETE', pgid='pgtrigger_never_deleted_c6638', table='reconciliation_settlementaccount', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='settlementaccount',
            trigger=pgtrigger.compiler.Trigger(name='settlement_account_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.status IS DISTINCT FROM NEW.status AND NOT ((OLD.status = 'proposed' AND NEW.status = 'current') OR (OLD.status = 'proposed' AND NEW.status = 'rejected')))", func="RAISE EXCEPTION 'status cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';", hash='b5c25e3c43398412580525de8d4db7a915170ca3', operation='UPDATE OF "status"', pgid='pgtrigger_settlement_account_moves_08706', table='reconciliation_settlementaccount', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='settlementaccount',
            trigger=pgtrigger.compiler.Trigger(name='settlement_account_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."rail_id" IS DISTINCT FROM (NEW."rail_id") OR OLD."fingerprint" IS DISTINCT FROM (NEW."fingerprint") OR OLD."last4" IS DISTINCT FROM (NEW."last4") OR OLD."format" IS DISTINCT FROM (NEW."format") OR OLD."opened_on" IS DISTINCT FROM (NEW."opened_on") OR OLD."opening" IS DISTINCT FROM (NEW."opening") OR OLD."by_command" IS DISTINCT FROM (NEW."by_command") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."proposed_by" IS DISTINCT FROM (NEW."proposed_by") OR OLD."proposed_at" IS DISTINCT FROM (NEW."proposed_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='4dbd71989c66520781340fa28f68bc662303d585', operation='UPDATE', pgid='pgtrigger_settlement_account_never_changes_1bb1e', table='reconciliation_settlementaccount', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='bankstatement',
            index=models.Index(fields=['taken_at'], name='bank_statement_age'),
        ),
        migrations.AddIndex(
            model_name='bankstatement',
            index=models.Index(fields=['last_day', 'id'], name='bank_statement_by_day'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.UniqueConstraint(fields=('file', 'number'), name='one_statement_per_place'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.UniqueConstraint(fields=('account', 'last_day'), name='one_statement_per_day'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.UniqueConstraint(condition=models.Q(('follows', None)), fields=('account',), name='one_first_statement'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.CheckConstraint(condition=models.Q(('closing', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('opening'), '+', models.F('credits')), '-', models.F('debits')))), name='statement_adds_up'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.CheckConstraint(condition=models.Q(('credits__gte', 0), ('debits__gte', 0), ('opening__gte', 0)), name='statement_has_no_negative_sums'),
        ),
        migrations.AddConstraint(
            model_name='bankstatement',
            constraint=models.CheckConstraint(condition=models.Q(('first_day__lte', models.F('last_day'))), name='statement_days_in_order'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='bankstatement',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='1b4304f6ffd4986e38affddf47ce69403866e861', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_c90bf', table='reconciliation_bankstatement', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='bankstatement',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='15456aca4685f0aa8703c7a3cffb2ed4aafad134', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_9250d', table='reconciliation_bankstatement', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='statementline',
            index=models.Index(fields=['taken_at'], name='statement_line_age'),
        ),
        migrations.AddConstraint(
            model_name='statementline',
            constraint=models.UniqueConstraint(fields=('statement', 'position'), name='one_line_per_position'),
        ),
        migrations.AddConstraint(
            model_name='statementline',
            constraint=models.UniqueConstraint(fields=('statement', 'digest'), name='one_line_per_digest'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statementline',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='9ef09e750fa2a2882a7fda15ab39f47b0e8f848c', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_73306', table='reconciliation_statementline', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statementline',
            trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='90790524f25d645f1fff6984467c3b1e6f83d778', operation='DELETE', pgid='pgtrigger_never_deleted_8373f', table='reconciliation_statementline', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statementline',
            trigger=pgtrigger.compiler.Trigger(name='statement_line_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."statement_id" IS DISTINCT FROM (NEW."statement_id") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."booked_on" IS DISTINCT FROM (NEW."booked_on") OR OLD."value_on" IS DISTINCT FROM (NEW."value_on") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."type_code" IS DISTINCT FROM (NEW."type_code") OR OLD."return_code" IS DISTINCT FROM (NEW."return_code") OR OLD."is_reversal" IS DISTINCT FROM (NEW."is_reversal") OR OLD."references" IS DISTINCT FROM (NEW."references") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."taken_at" IS DISTINCT FROM (NEW."taken_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='df098c1feb8faff9c9cb53716d1e442903d8bdae', operation='UPDATE', pgid='pgtrigger_statement_line_never_changes_51cf8', table='reconciliation_statementline', when='BEFORE')),
        ),
    ]
