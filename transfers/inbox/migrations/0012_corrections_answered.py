"""Networks are told what became of their corrections."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("network_inbox", "0011_corrected_index")]

    operations = [
        migrations.AddField(
            model_name="inboundevent",
            name="answer_due_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text=(
                    "when its network is to be told what became of it, if it waits for that"
                ),
                null=True,
            ),
        ),
        AddIndexOnline(
            model_name="inboundevent",
            index=models.Index(
                condition=models.Q(("answer_due_at__isnull", False)),
                fields=["answer_due_at", "id"],
                name="inbound_to_answer",
            ),
        ),
    ]
