import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("network_inbox", "0009_settlement_dates"),
    ]

    operations = [
        # No column may change its type while a trigger names it.
        pgtrigger.migrations.RemoveTrigger(
            model_name="inboundevent",
            name="message_never_changes",
        ),
        # PostgreSQL changes no row for a longer limit.
        migrations.AlterField(
            model_name="inboundevent",
            name="kind",
            field=models.CharField(max_length=24),
        ),
        migrations.AlterField(
            model_name="inboundevent",
            name="code",
            field=models.CharField(blank=True, max_length=16),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="inboundevent",
            trigger=pgtrigger.compiler.Trigger(
                name="message_never_changes",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."network" IS DISTINCT FROM (NEW."network") OR OLD."event_id" IS DISTINCT FROM (NEW."event_id") OR OLD."instruction_id" IS DISTINCT FROM (NEW."instruction_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."reference" IS DISTINCT FROM (NEW."reference") OR OLD."occurred_at" IS DISTINCT FROM (NEW."occurred_at") OR OLD."received_at" IS DISTINCT FROM (NEW."received_at") OR OLD."original" IS DISTINCT FROM (NEW."original") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."by_hand" IS DISTINCT FROM (NEW."by_hand") OR OLD."settlement_date" IS DISTINCT FROM (NEW."settlement_date") OR OLD."trace_number" IS DISTINCT FROM (NEW."trace_number"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="067d8178f2685407cdcec190197317edf1840cde",
                    operation="UPDATE",
                    pgid="pgtrigger_message_never_changes_e8387",
                    table="network_inbox_inboundevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
