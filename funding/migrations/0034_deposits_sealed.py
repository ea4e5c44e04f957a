"""Micro-deposits are sealed: their rows are found by their date."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("funding", "0033_speed_checked")]

    operations = [
        AddIndexOnline(
            model_name="depositentry",
            index=models.Index(fields=["created_at"], name="deposit_made"),
        ),
    ]
