from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sandbox_bank", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="sandboxinstruction",
            name="network",
            field=models.CharField(db_default="sandbox", max_length=16),
        ),
    ]
