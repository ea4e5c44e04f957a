"""Since when a payment needs approval because whoever ordered it was removed, or has less say."""

from __future__ import annotations

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0026_cool_down_checked"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="second_look_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text=(
                    "since when it needs approval, because whoever ordered it left or has less say"
                ),
                null=True,
            ),
        ),
        # Both let through what the former ones did, and rows with the new column.
        migrations.RemoveConstraint(model_name="payment", name="payment_sent_only_when_confirmed"),
        AddConstraintNotValid(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("requires_confirmation", False), ("second_look_at", None)),
                    ("confirmed_at__isnull", False),
                    models.Q(
                        ("next_attempt_at", None),
                        ("status__in", ("waiting_for_funds", "created", "failed", "canceled")),
                    ),
                    _connector="OR",
                ),
                name="payment_sent_only_when_confirmed",
            ),
        ),
        migrations.RemoveConstraint(model_name="payment", name="payment_confirmation_has_an_end"),
        AddConstraintNotValid(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("confirmation_expires_at__isnull", False), ("requires_confirmation", True)
                    ),
                    models.Q(
                        ("confirmation_expires_at__isnull", False),
                        ("second_look_at__isnull", False),
                    ),
                    models.Q(
                        ("confirmation_expires_at__isnull", True),
                        ("confirmed_at__isnull", True),
                        ("requires_confirmation", False),
                        ("second_look_at__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="payment_confirmation_has_an_end",
            ),
        ),
    ]
