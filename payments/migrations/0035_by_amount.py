"""The index by which people search for an amount, made while rows are written."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payments", "0034_approvals_count")]

    operations = [
        AddIndexOnline(
            model_name="payment",
            index=models.Index(fields=["amount", "tenant", "id"], name="payment_by_amount"),
        ),
    ]
