"""A change of how long recipients are new that waits for a second person, or a day."""

from __future__ import annotations

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0024_limits_checked"),
    ]

    operations = [
        migrations.AddField(
            model_name="paymentsettings",
            name="next_cool_down_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="paymentsettings",
            name="next_cool_down_by",
            field=models.CharField(blank=True, db_default="", max_length=254),
        ),
        migrations.AddField(
            model_name="paymentsettings",
            name="next_cool_down_hours",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        AddConstraintNotValid(
            model_name="paymentsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("next_cool_down_hours", None),
                    ("next_cool_down_at__isnull", False),
                    _connector="OR",
                ),
                name="next_cool_down_dated",
            ),
        ),
    ]
