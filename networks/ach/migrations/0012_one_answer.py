"""What an answer about a file says, so that another one is not applied beside it."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ach', '0011_spoken_answers'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='outfile',
            name='out_file_answered_once',
        ),
        migrations.AddField(
            model_name='outfile',
            name='answer_digest',
            field=models.CharField(blank=True, db_default='', max_length=64),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='outfile',
            trigger=pgtrigger.compiler.Trigger(name='out_file_answered_once', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.answered_how <> '' AND OLD.answered_how <> NEW.answered_how OR OLD.answer_digest <> '' AND OLD.answer_digest <> NEW.answer_digest)", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='737990f05907339f06d58c02d28f87fd98325245', operation='UPDATE', pgid='pgtrigger_out_file_answered_once_e23b0', table='ach_outfile', when='BEFORE')),
        ),
    ]
