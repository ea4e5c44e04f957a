"""Since when a payment needs approval, in other words. Nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0032_asked_again")]

    operations = [
        migrations.AlterField(
            model_name="payment",
            name="second_look_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text=(
                    "since when it needs approval, because whoever ordered it left or its key was"
                    " revoked"
                ),
                null=True,
            ),
        ),
    ]
