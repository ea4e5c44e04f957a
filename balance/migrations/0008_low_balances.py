from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q

MARK = "UPDATE balance SET is_low = true WHERE available + pending < notify_below"


class Migration(migrations.Migration):
    dependencies = [("balance", "0007_cheaper_checks")]

    operations = [
        migrations.AddField(
            model_name="balance",
            name="is_low",
            field=models.BooleanField(
                db_default=False, help_text="with what is on its way, below `notify_below`"
            ),
        ),
        migrations.AddField(
            model_name="balance",
            name="low_noted_until",
            field=models.DateTimeField(
                help_text="noted as low; until then no sweep has to look again; empty: not noted",
                null=True,
            ),
        ),
        migrations.RunSQL(MARK, reverse_sql=migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="balance",
            index=models.Index(
                condition=Q(is_low=True) | Q(low_noted_until__isnull=False),
                fields=["is_low", "low_noted_until"],
                include=("tenant",),
                name="balance_low",
            ),
        ),
    ]
