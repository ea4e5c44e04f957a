"""One function says what a line of the operator must be. It was three CHECKs, which `0023` had
looked at for all lines there are; `0025` looks once more."""

from __future__ import annotations

from pathlib import Path

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import F, Func

SQL = Path(__file__).parent / "sql" / "operator_line_is_sound.sql"
BEFORE = ("operator_line_is_sound", "operator_line_has_its_tenant", "operator_line_has_its_rail")


class Migration(migrations.Migration):
    dependencies = [("balance", "0023_steps_checked")]

    operations = [
        migrations.RunSQL(
            SQL.read_text(), reverse_sql="DROP FUNCTION balance_operator_line_is_sound"
        ),
        *(migrations.RemoveConstraint(model_name="operatorline", name=name) for name in BEFORE),
        AddConstraintNotValid(
            model_name="operatorline",
            constraint=models.CheckConstraint(
                condition=Func(
                    F("step"),
                    F("amount"),
                    F("rail"),
                    F("tenant"),
                    function="balance_operator_line_is_sound",
                    output_field=models.BooleanField(),
                ),
                name="operator_line_is_sound",
            ),
        ),
    ]
