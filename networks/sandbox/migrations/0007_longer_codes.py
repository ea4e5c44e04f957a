from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox_bank", "0006_rail"),
    ]

    operations = [
        migrations.AlterField(
            model_name="sandboxevent",
            name="code",
            field=models.CharField(blank=True, max_length=16),
        ),
    ]
