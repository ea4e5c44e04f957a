"""What became of a correction where the account is kept."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ach", "0009_left_out")]

    operations = [
        migrations.AddField(
            model_name="correction",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("applied", "Account corrected"),
                    ("unchanged", "Nothing to change"),
                    ("review", "Waits for a person"),
                    ("resolved", "Settled by a person"),
                ],
                db_default="",
                max_length=9,
            ),
        ),
        migrations.AddField(
            model_name="correction",
            name="outcome_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="correction",
            name="outcome_note",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
        AddIndexOnline(
            model_name="correction",
            index=models.Index(
                condition=models.Q(("outcome", "review")),
                fields=["due_on", "id"],
                name="correction_review",
            ),
        ),
    ]
