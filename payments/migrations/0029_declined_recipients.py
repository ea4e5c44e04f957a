"""An index of declined approvals: recipients of such payments stay new until an approval."""

from __future__ import annotations

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("payments", "0028_second_look_checked"),
    ]

    operations = [
        AddIndexOnline(
            model_name="paymentconfirmation",
            index=models.Index(
                condition=models.Q(("decision", "declined")),
                fields=["tenant"],
                name="payment_declined",
            ),
        ),
    ]
