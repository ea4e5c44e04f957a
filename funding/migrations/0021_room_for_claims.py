"""Room on each page, so that a claim, which changes no index, stays on it. For pages written from
now on; nobody waits."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0020_unique_again'),
    ]

    operations = [
        migrations.RunSQL(
            'ALTER TABLE funding_fundingtransaction SET (fillfactor = 70)',
            'ALTER TABLE funding_fundingtransaction RESET (fillfactor)',
        ),
    ]
