from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0008_never_truncated")]

    operations = [
        migrations.AddField(
            model_name="webhookdelivery",
            name="is_parked",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="waits for the end of an earlier event of its payment",
            ),
        ),
    ]
