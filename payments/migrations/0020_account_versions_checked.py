"""What `0019` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0019_account_versions"),
    ]

    operations = [
        ValidateConstraint(model_name="recipient", name="recipient_corrected_iff_dated"),
    ]
