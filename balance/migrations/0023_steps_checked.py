"""What `0022` left for later, because it reads the whole table."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

NAMES = ("operator_line_is_sound", "operator_line_has_its_tenant", "operator_line_has_its_rail")


class Migration(migrations.Migration):
    dependencies = [("balance", "0022_steps_of_dishonors")]

    operations = [ValidateConstraint(model_name="operatorline", name=name) for name in NAMES]
