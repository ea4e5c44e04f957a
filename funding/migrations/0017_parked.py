"""What keeps a funding from its network, as an id. `0018` builds the index for it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0016_never_truncated'),
    ]

    operations = [
        migrations.AddField(
            model_name='fundingtransaction',
            name='parked_for',
            field=models.CharField(blank=True, db_collation='C', db_default='', default='', help_text='the switch, or the suspended tenant, that keeps it from its network', max_length=32),
        ),
    ]
