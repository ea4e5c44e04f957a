"""What `0021` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0021_speed"),
    ]

    operations = [
        ValidateConstraint(model_name="payment", name="payment_speed_known"),
    ]
