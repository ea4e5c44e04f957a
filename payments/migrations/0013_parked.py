"""What keeps a payment from its network, as an id. `0014` builds the index for it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0012_held_back_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='payment',
            name='parked_for',
            field=models.CharField(blank=True, db_collation='C', db_default='', default='', help_text='the switch, or the suspended tenant, that keeps it from its network', max_length=32),
        ),
    ]
