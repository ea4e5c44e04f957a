"""What `0026` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("funding", "0026_account_versions"),
    ]

    operations = [
        ValidateConstraint(model_name="fundingsource", name="funding_source_corrected_iff_dated"),
    ]
