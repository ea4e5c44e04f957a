"""What a request made, so that its page and the request find each other."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('api', '0005_request_fields'),
        ('tenants', '0025_find_sessions'),
    ]

    operations = [
        migrations.AddField(
            model_name='apirequest',
            name='made_id',
            field=models.CharField(blank=True, db_collation='C', db_default='', default='', help_text="the id of what it made, by the answer's Location", max_length=32),
        ),
    ]
