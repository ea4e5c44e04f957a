from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0020_access_ends_checked")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="may_loosen_auto_funding",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
