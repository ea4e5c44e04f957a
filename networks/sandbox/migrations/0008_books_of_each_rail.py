"""Each rail of the sandbox bank may have an instruction of the same id."""

from typing import Any

from django.db import migrations, models

NAME = "one_sandbox_instruction_a_bank"
TABLE = "sandbox_bank_sandboxinstruction"


def add_constraint(apps: Any, schema_editor: Any) -> None:
    """While rows are written. What an interrupted run left is made anew."""
    schema_editor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {NAME}")
    schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}")
    schema_editor.execute(
        f"CREATE UNIQUE INDEX CONCURRENTLY {NAME} ON {TABLE} (external_id, network)"
    )
    schema_editor.execute(f"ALTER TABLE {TABLE} ADD CONSTRAINT {NAME} UNIQUE USING INDEX {NAME}")


def drop_constraint(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {NAME}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("sandbox_bank", "0007_longer_codes"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(add_constraint, drop_constraint)],
            state_operations=[
                migrations.AddConstraint(
                    model_name="sandboxinstruction",
                    constraint=models.UniqueConstraint(
                        fields=("external_id", "network"), name=NAME
                    ),
                )
            ],
        ),
        migrations.AlterField(
            model_name="sandboxinstruction",
            name="external_id",
            field=models.CharField(db_collation="C", max_length=64),
        ),
    ]
