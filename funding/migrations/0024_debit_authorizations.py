"""Authorizations of debits, and the accounts of which nobody said whose they are."""

import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0023_settlement_date'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='fundingsource',
            name='is_holder_known',
            field=models.BooleanField(db_default=True, default=True, help_text='whether anybody said that the holder is a business or an individual'),
        ),
        migrations.CreateModel(
            name='DebitAuthorization',
            fields=[
                ('id', common.fields.PrefixedIdField('dau')),
                ('kind', models.CharField(choices=[('single', 'One debit'), ('recurring', 'Debits by a rule')], max_length=9)),
                ('scope', models.CharField(choices=[('topups', 'Top-ups that somebody asks for'), ('auto_funding', 'Automatic funding'), ('account', 'All debits of the account')], max_length=12)),
                ('text', models.TextField(help_text='as it was shown')),
                ('text_version', models.CharField(blank=True, help_text='empty: not a text of ours, an API key asserted it', max_length=40)),
                ('amount_rule', models.CharField(help_text='in words', max_length=300)),
                ('amount_max', models.BigIntegerField(blank=True, help_text='cents, of one debit; empty: the text alone says it', null=True)),
                ('monthly_max', models.BigIntegerField(blank=True, help_text='cents, of all debits of a calendar month', null=True)),
                ('revocation', models.CharField(help_text='how to revoke it', max_length=300)),
                ('accepted_at', models.DateTimeField(help_text='when the account holder agreed')),
                ('address', models.CharField(blank=True, help_text='the network address that the agreement came from, if it is known', max_length=45)),
                ('accepted_by_type', models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8)),
                ('accepted_by_id', models.CharField(blank=True, max_length=254)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('ended_because', models.CharField(blank=True, help_text="a word of ours, or the bank's return code", max_length=40)),
                ('ended_by_type', models.CharField(blank=True, choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8)),
                ('ended_by_id', models.CharField(blank=True, max_length=254)),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='authorizations', to='funding.fundingsource')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant')),
            ],
            options={
                'verbose_name': 'debit authorization',
                'indexes': [models.Index(fields=['tenant', '-created_at', '-id'], name='authorization_by_tenant'), models.Index(fields=['source'], name='authorization_of_source')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['single', 'recurring']), ('scope__in', ['topups', 'auto_funding', 'account']), models.Q(('kind', 'recurring'), ('scope', 'topups'), _connector='OR')), name='authorization_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), models.Q(('amount_rule', ''), _negated=True), models.Q(('revocation', ''), _negated=True)), name='authorization_says_everything'), models.CheckConstraint(condition=models.Q(models.Q(('amount_max', None), ('amount_max__range', (1, 1000000000000000)), _connector='OR'), models.Q(('monthly_max', None), ('monthly_max__gte', 1), _connector='OR')), name='authorization_amounts_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('ended_because', ''), ('ended_by_id', ''), ('ended_by_type', '')), models.Q(('ended_at__gte', models.F('created_at')), models.Q(('ended_because', ''), _negated=True), models.Q(('ended_by_type', ''), _negated=True)), _connector='OR'), name='authorization_end_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='AuthorizedDebit',
            fields=[
                ('id', common.fields.PrefixedIdField('dad')),
                ('kind', models.CharField(choices=[('single', 'One debit'), ('recurring', 'Debits by a rule')], max_length=9)),
                ('in_force_at', models.DateTimeField(blank=True, help_text='when it was last seen in force before it was sent', null=True)),
                ('created_at', models.DateTimeField()),
                ('funding', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='authorized', to='funding.fundingtransaction')),
                ('authorization', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='debits', to='funding.debitauthorization')),
            ],
            options={
                'verbose_name': 'authorized debit',
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'single')), fields=('authorization',), name='one_debit_per_single_authorization')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='debitauthorization',
            trigger=pgtrigger.compiler.Trigger(name='authorization_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='b0413f59a5358f05548127f92691e34c1c0f5fa2', operation='DELETE', pgid='pgtrigger_authorization_stays_f8592', table='funding_debitauthorization', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='debitauthorization',
            trigger=pgtrigger.compiler.Trigger(name='authorization_unchanged', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."scope" IS DISTINCT FROM (NEW."scope") OR OLD."text" IS DISTINCT FROM (NEW."text") OR OLD."text_version" IS DISTINCT FROM (NEW."text_version") OR OLD."amount_rule" IS DISTINCT FROM (NEW."amount_rule") OR OLD."amount_max" IS DISTINCT FROM (NEW."amount_max") OR OLD."monthly_max" IS DISTINCT FROM (NEW."monthly_max") OR OLD."revocation" IS DISTINCT FROM (NEW."revocation") OR OLD."accepted_at" IS DISTINCT FROM (NEW."accepted_at") OR OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."accepted_by_type" IS DISTINCT FROM (NEW."accepted_by_type") OR OLD."accepted_by_id" IS DISTINCT FROM (NEW."accepted_by_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='fdeec46cc9818395ca6396fd8821b6dc6bbacbc7', operation='UPDATE', pgid='pgtrigger_authorization_unchanged_59b18', table='funding_debitauthorization', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='debitauthorization',
            trigger=pgtrigger.compiler.Trigger(name='authorization_ends_once', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."ended_at" IS NOT NULL)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7bcf84d6565c9c14b103a65f7d902243ee2d08a0', operation='UPDATE', pgid='pgtrigger_authorization_ends_once_043e0', table='funding_debitauthorization', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='debitauthorization',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='0393e67b3e8025475a6a92d84c47685579415dfd', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_a421d', table='funding_debitauthorization', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='authorizeddebit',
            trigger=pgtrigger.compiler.Trigger(name='authorized_debit_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='f7d521bcf314da7040e06aa7d101b1b216834fbb', operation='DELETE', pgid='pgtrigger_authorized_debit_stays_d7597', table='funding_authorizeddebit', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='authorizeddebit',
            trigger=pgtrigger.compiler.Trigger(name='authorized_debit_unchanged', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."funding_id" IS DISTINCT FROM (NEW."funding_id") OR OLD."authorization_id" IS DISTINCT FROM (NEW."authorization_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b1c5293f4cf8a7dc82193892021ff720d172790f', operation='UPDATE', pgid='pgtrigger_authorized_debit_unchanged_ea9a0', table='funding_authorizeddebit', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='authorizeddebit',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='908c5ae88de7cdff2903c1d42ea1cd82f7b9ddaf', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_5b548', table='funding_authorizeddebit', when='BEFORE')),
        ),
    ]
