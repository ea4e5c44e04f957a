"""An index of credit transfers to us that are not certain yet, by which those are found of which the
network says nothing, however long workers were away."""

from django.db import migrations, models
from django.db.models import Q

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("instant", "0005_participants")]

    operations = [
        AddIndexOnline(
            model_name="conversation",
            index=models.Index(
                fields=["created_at"], name="instant_answering", condition=Q(status="answering")
            ),
        ),
    ]
