"""An index of late returns about which somebody has to decide, by their deadline."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ach", "0003_answers_and_reversals")]

    operations = [
        AddIndexOnline(
            model_name="inrecord",
            index=models.Index(
                condition=models.Q(("may_dishonor", True)),
                fields=["due_on", "id"],
                name="in_record_late",
            ),
        ),
    ]
