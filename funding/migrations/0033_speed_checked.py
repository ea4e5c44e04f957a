"""What `0032` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("funding", "0032_speed"),
    ]

    operations = [
        ValidateConstraint(model_name="fundingtransaction", name="funding_speed_known"),
    ]
