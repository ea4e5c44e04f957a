"""An index of the entries that the last file left out, which are counted at each look at /metrics."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ach", "0008_lines_and_stuck_files")]

    operations = [
        AddIndexOnline(
            model_name="achentry",
            index=models.Index(
                condition=models.Q(("waits_for", ""), _negated=True),
                fields=["rail", "waits_for"],
                name="ach_entry_left_out",
            ),
        ),
    ]
