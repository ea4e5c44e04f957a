import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('network_inbox', '0012_corrections_answered'),
        ('tenants', '0025_find_sessions'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReturnDishonor',
            fields=[
                ('id', common.fields.PrefixedIdField('rdh')),
                ('subject_id', models.CharField(db_collation='C', max_length=64, verbose_name='funding or payment')),
                ('direction', models.CharField(choices=[('in', 'Money in'), ('out', 'Money out')], max_length=3)),
                ('network', models.CharField(max_length=16)),
                ('amount', models.BigIntegerField()),
                ('due_at', models.DateTimeField(null=True)),
                ('counted_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('contested', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='network_inbox.inboundevent')),
                ('dishonored', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='network_inbox.inboundevent')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant')),
            ],
            options={
                'verbose_name': 'dishonored return',
                'indexes': [models.Index(fields=['subject_id', 'id'], name='dishonor_by_row'), models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='dishonor_due'), models.Index(fields=['changed_at'], name='dishonor_changed')],
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gte', 1), ('amount__lte', 1000000000000000)), name='dishonor_amount_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('contested', None), ('counted_at', None), ('dishonored__isnull', False), ('due_at__isnull', False)), models.Q(('due_at', None), models.Q(('contested__isnull', False), ('counted_at__isnull', False), _connector='OR')), _connector='OR'), name='dishonor_due_until_it_ends'), models.CheckConstraint(condition=models.Q(('counted_at', None), ('dishonored__isnull', False), _connector='OR'), name='dishonor_counted_once_told')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='returndishonor',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='655d26cc05d57a96656deca41b47fbab81164759', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_c3c7c', table='network_inbox_returndishonor', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='returndishonor',
            trigger=pgtrigger.compiler.Trigger(name='dishonor_never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='bcb9be5677a244a85181f446c4662987fdb9f965', operation='DELETE', pgid='pgtrigger_dishonor_never_deleted_e8002', table='network_inbox_returndishonor', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='returndishonor',
            trigger=pgtrigger.compiler.Trigger(name='dishonor_terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."subject_id" IS DISTINCT FROM (NEW."subject_id") OR OLD."direction" IS DISTINCT FROM (NEW."direction") OR OLD."network" IS DISTINCT FROM (NEW."network") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='ed3be84e991cdfed70036af4c970d2fd33956eb2', operation='UPDATE', pgid='pgtrigger_dishonor_terms_never_change_c0368', table='network_inbox_returndishonor', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='returndishonor',
            trigger=pgtrigger.compiler.Trigger(name='dishonor_told_once', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.dishonored_id <> NEW.dishonored_id OR OLD.dishonored_id IS NOT NULL AND NEW.dishonored_id IS NULL OR OLD.contested_id <> NEW.contested_id OR OLD.contested_id IS NOT NULL AND NEW.contested_id IS NULL OR OLD.counted_at <> NEW.counted_at OR OLD.counted_at IS NOT NULL AND NEW.counted_at IS NULL)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='04de868d0a933cfee486b098ad395f22e6c42add', operation='UPDATE', pgid='pgtrigger_dishonor_told_once_5294d', table='network_inbox_returndishonor', when='BEFORE')),
        ),
    ]
