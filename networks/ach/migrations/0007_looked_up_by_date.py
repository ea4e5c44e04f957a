"""Indexes for what is looked up by its date, the seals' windows and the rates of returns, and for
what was asked about an account."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ach", "0006_answers_that_came_to_nothing")]

    operations = [
        AddIndexOnline(
            model_name="outfile",
            index=models.Index(fields=["sent_at"], name="out_file_by_sending"),
        ),
        AddIndexOnline(
            model_name="correction",
            index=BrinIndex(fields=["created_at"], name="correction_age"),
        ),
        AddIndexOnline(
            model_name="achentry",
            index=models.Index(
                condition=models.Q(("purpose__in", ("verification", "prenote"))),
                fields=["account_fingerprint"],
                name="ach_entry_asked",
            ),
        ),
        AddIndexOnline(
            model_name="achentry",
            index=models.Index(
                condition=models.Q(("is_debit", True), ("sent_at__isnull", False)),
                fields=["originator", "sent_at"],
                include=("status", "code"),
                name="ach_entry_rates",
            ),
        ),
    ]
