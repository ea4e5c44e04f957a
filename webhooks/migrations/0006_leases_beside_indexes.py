"""A claim writes no index any more (decision 0088).

Locks nothing for long, whatever the size of the table. A dispatcher of the version before still works
without this index, slower.
"""

from __future__ import annotations

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0005_labels")]

    operations = [
        RemoveIndexConcurrently(model_name="webhookdelivery", name="delivery_in_flight"),
    ]
