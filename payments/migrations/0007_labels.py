"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0006_held'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='paymentconfirmation',
            options={'verbose_name': 'payment approval'},
        ),
        migrations.AlterModelOptions(
            name='paymentconfirmationlink',
            options={'verbose_name': 'payment approval link'},
        ),
        migrations.AlterField(
            model_name='payment',
            name='created_by_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
        migrations.AlterField(
            model_name='payment',
            name='method',
            field=models.CharField(choices=[('ach_credit', 'ACH credit'), ('rtp', 'RTP')], max_length=10),
        ),
        migrations.AlterField(
            model_name='payment',
            name='status',
            field=models.CharField(choices=[('waiting_for_funds', 'Waiting for money'), ('created', 'Ready to send'), ('processing', 'On its way'), ('completed', 'Completed'), ('failed', 'Failed'), ('returned', 'Returned'), ('canceled', 'Canceled')], max_length=17),
        ),
        migrations.AlterField(
            model_name='paymentconfirmation',
            name='decision',
            field=models.CharField(choices=[('open', 'Waiting'), ('approved', 'Approved'), ('declined', 'Declined'), ('expired', 'Expired'), ('superseded', 'Withdrawn')], default='open', max_length=10),
        ),
        migrations.AlterField(
            model_name='paymentevent',
            name='actor_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
        migrations.AlterField(
            model_name='paymentevent',
            name='to_status',
            field=models.CharField(choices=[('waiting_for_funds', 'Waiting for money'), ('created', 'Ready to send'), ('processing', 'On its way'), ('completed', 'Completed'), ('failed', 'Failed'), ('returned', 'Returned'), ('canceled', 'Canceled')], max_length=17),
        ),
    ]
