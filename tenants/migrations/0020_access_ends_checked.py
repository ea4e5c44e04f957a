"""What `0018` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0019_find_people"),
    ]

    operations = [
        ValidateConstraint(model_name="accessproposal", name="access_decided_iff_dated"),
        ValidateConstraint(model_name="accessproposal", name="access_decided_before_its_end"),
    ]
