
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ach', '0013_proposals'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='infile',
            name='in_file_never_changes',
        ),
        migrations.RemoveConstraint(
            model_name='achproposal',
            name='ach_proposal_kind_known',
        ),
        migrations.AddField(
            model_name='infile',
            name='uploaded_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=254),
        ),
        migrations.AlterField(
            model_name='achproposal',
            name='kind',
            field=models.CharField(choices=[('at_bank', 'The bank has the file'), ('not_at_bank', 'The bank does not have the file'), ('originator', 'Another name, or higher limits'), ('end_originator', 'A company of a tenant ends'), ('release_debits', 'Stopped debits go on'), ('dismiss', 'A bank statement is never taken')], max_length=14),
        ),
        migrations.AlterField(
            model_name='infile',
            name='folder',
            field=models.CharField(choices=[('ack', 'Acknowledgments'), ('inbound', 'Returns and changes'), ('statements', 'Bank statements')], max_length=10),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='infile',
            trigger=pgtrigger.compiler.Trigger(name='in_file_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."rail_id" IS DISTINCT FROM (NEW."rail_id") OR OLD."folder" IS DISTINCT FROM (NEW."folder") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."size" IS DISTINCT FROM (NEW."size") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256") OR OLD."chunk_count" IS DISTINCT FROM (NEW."chunk_count") OR OLD."uploaded_by" IS DISTINCT FROM (NEW."uploaded_by") OR OLD."received_at" IS DISTINCT FROM (NEW."received_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='5e44af9613e184cb9375d0f05a0f8bf644491376', operation='UPDATE', pgid='pgtrigger_in_file_never_changes_6e1ee', table='ach_infile', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='achproposal',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['at_bank', 'not_at_bank', 'originator', 'end_originator', 'release_debits', 'dismiss'])), name='ach_proposal_kind_known'),
        ),
    ]
