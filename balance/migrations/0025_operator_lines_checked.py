"""What `0024` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("balance", "0024_cheaper_checks_of_the_operator")]

    operations = [
        ValidateConstraint(model_name="operatorline", name="operator_line_is_sound"),
    ]
