"""The index by which people search for an amount, made while rows are written."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("funding", "0036_account_version_words")]

    operations = [
        AddIndexOnline(
            model_name="fundingtransaction",
            index=models.Index(fields=["amount", "tenant", "id"], name="funding_by_amount"),
        ),
    ]
