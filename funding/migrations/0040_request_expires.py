"""Until when the account holder can approve a request for payment."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0039_operator_lines'),
    ]

    operations = [
        migrations.AddField(
            model_name='fundingtransaction',
            name='request_expires_at',
            field=models.DateTimeField(blank=True, help_text='when a request for payment lapses; set when it is sent for the first time', null=True),
        ),
    ]
