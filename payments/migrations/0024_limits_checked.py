"""What `0023` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0023_limits_on_money_out"),
    ]

    operations = [
        ValidateConstraint(model_name="paymentsettings", name="next_payment_limits_dated"),
    ]
