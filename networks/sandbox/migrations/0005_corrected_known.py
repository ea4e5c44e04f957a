"""What `0004` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox_bank", "0004_corrected"),
    ]

    operations = [
        ValidateConstraint(model_name="sandboxevent", name="sandbox_event_kind_known"),
    ]
