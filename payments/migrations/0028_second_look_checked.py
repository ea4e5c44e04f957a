"""What `0027` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0027_second_look"),
    ]

    operations = [
        ValidateConstraint(model_name="payment", name="payment_sent_only_when_confirmed"),
        ValidateConstraint(model_name="payment", name="payment_confirmation_has_an_end"),
    ]
