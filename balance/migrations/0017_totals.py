from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("balance", "0016_once_by_source"),
    ]

    operations = [
        migrations.AddField(
            model_name="ledgercheck",
            name="totals",
            field=models.JSONField(help_text="cents that all tenants had when it began", null=True),
        ),
    ]
