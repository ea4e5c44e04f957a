"""The index of notifications of change, which are applied apart from all other messages."""

from __future__ import annotations

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("network_inbox", "0010_longer_words"),
    ]

    operations = [
        AddIndexOnline(
            model_name="inboundevent",
            index=models.Index(
                condition=models.Q(("kind", "corrected")),
                fields=["next_attempt_at", "id"],
                name="inbound_corrected",
            ),
        ),
    ]
