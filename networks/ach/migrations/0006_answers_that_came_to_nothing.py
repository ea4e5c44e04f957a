"""What people decided waits for them again when the answer by it is withdrawn or rejected."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('ach', '0005_later_settlement'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='correction',
            name='correction_moves',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='inrecord',
            name='in_record_moves',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='correction',
            trigger=pgtrigger.compiler.Trigger(name='correction_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.status IS DISTINCT FROM NEW.status AND NOT ((OLD.status = 'open' AND NEW.status = 'applied') OR (OLD.status = 'open' AND NEW.status = 'informational') OR (OLD.status = 'open' AND NEW.status = 'refused') OR (OLD.status = 'refused' AND NEW.status = 'open')))", func="RAISE EXCEPTION 'status cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';", hash='ff443b85ea5a15ed936990dbaf4022267e883cc1', operation='UPDATE OF "status"', pgid='pgtrigger_correction_moves_fd62b', table='ach_correction', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='inrecord',
            trigger=pgtrigger.compiler.Trigger(name='in_record_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.status IS DISTINCT FROM NEW.status AND NOT ((OLD.status = 'new' AND NEW.status = 'applied') OR (OLD.status = 'new' AND NEW.status = 'review') OR (OLD.status = 'resolved' AND NEW.status = 'review') OR (OLD.status = 'review' AND NEW.status = 'applied') OR (OLD.status = 'review' AND NEW.status = 'resolved')))", func="RAISE EXCEPTION 'status cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';", hash='7832f37e3f777ed9c0aec12b05fa7803c448e1af', operation='UPDATE OF "status"', pgid='pgtrigger_in_record_moves_c99af', table='ach_inrecord', when='BEFORE')),
        ),
    ]
