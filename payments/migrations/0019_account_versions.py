
import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('network_inbox', '0011_corrected_index'),
        ('payments', '0018_settlement_date'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='RecipientVersion',
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
                ('id', common.fields.PrefixedIdField('rcv')),
                ('event', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='network_inbox.inboundevent')),
                ('recipient', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='payments.recipient')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('recipient', 'number'), name='one_recipient_version_per_number'), models.CheckConstraint(condition=models.Q(models.Q(('code', ''), ('event', None), ('number', 1)), models.Q(('event__isnull', False), ('number__gt', 1), models.Q(('code', ''), _negated=True)), _connector='OR'), name='recipient_version_says_why')],
                'indexes': [models.Index(fields=['fingerprint'], name='recipient_version_account')],
                'verbose_name': 'version of a recipient',
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='recipient',
            name='recipient_never_changes',
        ),
        migrations.AddField(
            model_name='payment',
            name='account_version',
            field=models.PositiveIntegerField(db_default=1, default=1, editable=False, help_text='the version of its bank account that goes out: the newest at its first claim'),
        ),
        migrations.AddField(
            model_name='recipient',
            name='corrected_at',
            field=models.DateTimeField(blank=True, help_text='when its bank last corrected these details', null=True),
        ),
        migrations.AddField(
            model_name='recipient',
            name='version',
            field=models.PositiveIntegerField(db_default=1, default=1, editable=False),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='recipient',
            trigger=pgtrigger.compiler.Trigger(name='recipient_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."account_holder_name" IS DISTINCT FROM (NEW."account_holder_name") OR OLD."account_holder_type" IS DISTINCT FROM (NEW."account_holder_type") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."is_saved" IS DISTINCT FROM (NEW."is_saved") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='48b921af87ac8f8c7ccc18a24cb68de539ffaf2c', operation='UPDATE', pgid='pgtrigger_recipient_never_changes_89f7d', table='payments_recipient', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='recipient',
            trigger=pgtrigger.compiler.Trigger(name='account_changes_by_version', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN ((OLD.version, OLD.bank_name, OLD.routing_number, OLD.last4, OLD.fingerprint, OLD.account_type) IS DISTINCT FROM (NEW.version, NEW.bank_name, NEW.routing_number, NEW.last4, NEW.fingerprint, NEW.account_type))', func="\n            IF NEW.version = OLD.version + 1\n                AND EXISTS (SELECT FROM payments_recipientversion AS stored WHERE stored.recipient_id = OLD.id AND stored.number = OLD.version AND stored.bank_name = OLD.bank_name AND stored.routing_number = OLD.routing_number AND stored.last4 = OLD.last4 AND stored.fingerprint = OLD.fingerprint AND stored.account_type = OLD.account_type) AND EXISTS (SELECT FROM payments_recipientversion AS stored WHERE stored.recipient_id = NEW.id AND stored.number = NEW.version AND stored.bank_name = NEW.bank_name AND stored.routing_number = NEW.routing_number AND stored.last4 = NEW.last4 AND stored.fingerprint = NEW.fingerprint AND stored.account_type = NEW.account_type)\n            THEN RETURN NEW; END IF;\n            RAISE EXCEPTION 'pgtrigger: Cannot change % without a new version', TG_TABLE_NAME;\n        ", hash='07d3cf773f58cadd98316343f12f7f7a7aec77d5', operation='UPDATE', pgid='pgtrigger_account_changes_by_version_2a744', table='payments_recipient', when='BEFORE')),
        ),
        AddConstraintNotValid(
            model_name='recipient',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('corrected_at', None), ('version', 1)), models.Q(('corrected_at__isnull', False), ('version__gt', 1)), _connector='OR'), name='recipient_corrected_iff_dated'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='recipientversion',
            trigger=pgtrigger.compiler.Trigger(name='recipient_version_never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='945f2af4efdbe9cc0a9b4a8d72b0b55b0fd39ec6', operation='DELETE', pgid='pgtrigger_recipient_version_never_deleted_693f1', table='payments_recipientversion', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='recipientversion',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='9cc1c1c9f392ba2e127c11e210b244182ce5ac88', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_ca7b3', table='payments_recipientversion', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='recipientversion',
            trigger=pgtrigger.compiler.Trigger(name='account_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."bank_name" IS DISTINCT FROM (NEW."bank_name") OR OLD."routing_number" IS DISTINCT FROM (NEW."routing_number") OR OLD."last4" IS DISTINCT FROM (NEW."last4") OR OLD."fingerprint" IS DISTINCT FROM (NEW."fingerprint") OR OLD."account_holder_name" IS DISTINCT FROM (NEW."account_holder_name") OR OLD."account_holder_type" IS DISTINCT FROM (NEW."account_holder_type") OR OLD."account_type" IS DISTINCT FROM (NEW."account_type") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."event_id" IS DISTINCT FROM (NEW."event_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."recipient_id" IS DISTINCT FROM (NEW."recipient_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7dc10a6ac16a97900563a6dc450e814a1d7c2620', operation='UPDATE', pgid='pgtrigger_account_never_changes_72617', table='payments_recipientversion', when='BEFORE')),
        ),
    ]
