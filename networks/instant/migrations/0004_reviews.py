"""What a person made of a message that has a fault, and who decides about returns of funds."""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

from common.database.operations import AddIndexOnline

_OPEN = models.Q(("resolution", ""), ("resolved_at", None), ("resolved_by", ""))
_RESOLVED = models.Q(
    ("resolved_at__isnull", False),
    ("status", "faulty"),
    models.Q(("resolved_by", ""), _negated=True),
    models.Q(("resolution", ""), _negated=True),
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("instant", "0003_positions")]

    operations = [
        migrations.AlterModelOptions(
            name="returnask",
            options={
                "permissions": (
                    (
                        "propose_returnask",
                        "Can propose what to answer to requests for a return of funds",
                    ),
                    ("approve_returnask", "Can approve answers that others propose"),
                ),
                "verbose_name": "request for a return of funds",
                "verbose_name_plural": "requests for a return of funds",
            },
        ),
        migrations.AddField(
            model_name="message",
            name="resolution",
            field=models.CharField(blank=True, db_default="", max_length=300),
        ),
        migrations.AddField(
            model_name="message",
            name="resolved_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="message",
            name="resolved_by",
            field=models.CharField(blank=True, db_default="", max_length=254),
        ),
        AddIndexOnline(
            model_name="message",
            index=models.Index(
                condition=models.Q(("resolved_at", None), ("status", "faulty")),
                fields=["id"],
                name="instant_message_unresolved",
            ),
        ),
        AddConstraintNotValid(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(_OPEN, _RESOLVED, _connector="OR"),
                name="instant_message_resolved_says_why",
            ),
        ),
        ValidateConstraint(model_name="message", name="instant_message_resolved_says_why"),
    ]
