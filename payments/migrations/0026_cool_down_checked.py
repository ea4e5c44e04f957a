"""What `0025` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0025_cool_down_waits"),
    ]

    operations = [
        ValidateConstraint(model_name="paymentsettings", name="next_cool_down_dated"),
    ]
