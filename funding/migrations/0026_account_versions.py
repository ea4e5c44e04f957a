
import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0025_authorization_ends'),
        ('network_inbox', '0011_corrected_index'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='FundingSourceVersion',
            fields=[
                ('bank_name', models.CharField(blank=True, max_length=120)),
                ('routing_number', models.CharField(max_length=9)),
                ('last4', models.CharField(max_length=4)),
                ('account_number_token', models.TextField(editable=False)),
                ('fingerprint', models.CharField(editable=False, max_length=64)),
                ('account_holder_name', models.CharField(max_length=120)),
                ('account_holder_type', models.CharField(choices=[('business', 'Business'), ('individual', 'Individual')], max_length=10)),
                ('account_type', models.CharField(choices=[('checking', 'Checking'), ('savings', 'Savings')], max_length=8)),
                ('number', models.PositiveIntegerField()),
                ('code', models.CharField(blank=True, max_length=8)),
                ('created_at', models.DateTimeField()),
                ('id', common.fields.PrefixedIdField('fsv')),
                ('event', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='network_inbox.inboundevent')),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='funding.fundingsource')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'number'), name='one_source_version_per_number'), models.CheckConstraint(condition=models.Q(models.Q(('code', ''), ('event', None), ('number', 1)), models.Q(('event__isnull', False), ('number__gt', 1), models.Q(('code', ''), _negated=True)), _connector='OR'), name='source_version_says_why')],
                'indexes': [models.Index(fields=['fingerprint'], name='source_version_by_account')],
                'verbose_name': 'version of a bank account',
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='fundingsource',
            name='account_never_changes',
        ),
        migrations.AddField(
            model_name='fundingsource',
            name='corrected_at',
            field=models.DateTimeField(blank=True, help_text='when its bank last corrected these details', null=True),
        ),
        migrations.AddField(
            model_name='fundingsource',
            name='version',
            field=models.PositiveIntegerField(db_default=1, default=1, editable=False),
        ),
        migrations.AddField(
            model_name='fundingtransaction',
            name='account_version',
            field=models.PositiveIntegerField(db_default=1, default=1, editable=False, help_text='the version of its bank account that goes out: the newest at its first claim'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingsource',
            trigger=pgtrigger.compiler.Trigger(name='source_stays_whose_it_is', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."type" IS DISTINCT FROM (NEW."type"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='e47ff59c8bc820b078e0d20e17e75ed051e5be94', operation='UPDATE', pgid='pgtrigger_source_stays_whose_it_is_86ff6', table='funding_fundingsource', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingsource',
            trigger=pgtrigger.compiler.Trigger(name='account_changes_by_version', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN ((OLD.version, OLD.bank_name, OLD.routing_number, OLD.last4, OLD.fingerprint, OLD.account_type) IS DISTINCT FROM (NEW.version, NEW.bank_name, NEW.routing_number, NEW.last4, NEW.fingerprint, NEW.account_type))', func="\n            IF NEW.version = OLD.version + 1\n                AND EXISTS (SELECT FROM funding_fundingsourceversion AS stored WHERE stored.source_id = OLD.id AND stored.number = OLD.version AND stored.bank_name = OLD.bank_name AND stored.routing_number = OLD.routing_number AND stored.last4 = OLD.last4 AND stored.fingerprint = OLD.fingerprint AND stored.account_type = OLD.account_type) AND EXISTS (SELECT FROM funding_fundingsourceversion AS stored WHERE stored.source_id = NEW.id AND stored.number = NEW.version AND stored.bank_name = NEW.bank_name AND stored.routing_number = NEW.routing_number AND stored.last4 = NEW.last4 AND stored.fingerprint = NEW.fingerprint AND stored.account_type = NEW.account_type)\n            THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'pgtrigger: Cannot change % without a new version', TG_TABLE_NAME;\n        ", hash='7e4eadc702c58fe08e28610501a59171e1570e0a', operation='UPDATE', pgid='pgtrigger_account_changes_by_version_7a4a1', table='funding_fundingsource', when='BEFORE')),
        ),
        AddConstraintNotValid(
            model_name='fundingsource',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('corrected_at', None), ('version', 1)), models.Q(('corrected_at__isnull', False), ('version__gt', 1)), _connector='OR'), name='funding_source_corrected_iff_dated'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingsourceversion',
            trigger=pgtrigger.compiler.Trigger(name='source_version_never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='f0607072e0479e72407552b7dca4fcd41a098e85', operation='DELETE', pgid='pgtrigger_source_version_never_deleted_cf9f4', table='funding_fundingsourceversion', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingsourceversion',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='1760f2774ce567ec3c1a18152b6b09a6ebacd198', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_06d7e', table='funding_fundingsourceversion', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='fundingsourceversion',
            trigger=pgtrigger.compiler.Trigger(name='account_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."bank_name" IS DISTINCT FROM (NEW."bank_name") OR OLD."routing_number" IS DISTINCT FROM (NEW."routing_number") OR OLD."last4" IS DISTINCT FROM (NEW."last4") OR OLD."fingerprint" IS DISTINCT FROM (NEW."fingerprint") OR OLD."account_holder_name" IS DISTINCT FROM (NEW."account_holder_name") OR OLD."account_holder_type" IS DISTINCT FROM (NEW."account_holder_type") OR OLD."account_type" IS DISTINCT FROM (NEW."account_type") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."event_id" IS DISTINCT FROM (NEW."event_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='79bf36c71f16ceebfa8b4c3f6dbba85d3fec70c8', operation='UPDATE', pgid='pgtrigger_account_never_changes_63d1c', table='funding_fundingsourceversion', when='BEFORE')),
        ),
    ]
