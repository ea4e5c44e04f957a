"""An index by which lines of the bank that look alike are found."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("reconciliation", "0005_netted")]

    operations = [
        AddIndexOnline(
            model_name="statementline",
            index=models.Index(fields=["statement", "amount"], name="statement_line_by_amount"),
        ),
    ]
