from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("tenants", "0013_known_powers"),
    ]

    operations = [
        AddIndexOnline(
            model_name="user",
            index=models.Index(
                condition=models.Q(("is_superuser", True)),
                fields=["last_login"],
                name="superuser_seen",
            ),
        ),
    ]
