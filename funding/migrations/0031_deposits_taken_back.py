"""Micro-deposits are taken back when another one of the three fails."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("funding", "0030_retries_online")]

    operations = [
        migrations.AddField(
            model_name="depositentry",
            name="withdrawal_asked_at",
            field=models.DateTimeField(
                blank=True,
                help_text=(
                    "when its network was asked to give it back, because another entry failed"
                ),
                null=True,
            ),
        ),
        AddIndexOnline(
            model_name="depositentry",
            index=models.Index(
                condition=models.Q(("status", "sent"), ("withdrawal_asked_at", None)),
                fields=["verification"],
                name="deposit_to_take_back",
            ),
        ),
    ]
