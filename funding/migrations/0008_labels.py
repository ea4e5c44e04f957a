"""Names that people read; nothing changes in the database."""

from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('funding', '0007_held'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='autofundingconfig',
            options={'verbose_name': 'auto-funding', 'verbose_name_plural': 'auto-funding'},
        ),
        migrations.AlterModelOptions(
            name='autofundingdecision',
            options={'verbose_name': 'auto-funding decision'},
        ),
        migrations.AlterModelOptions(
            name='confirmation',
            options={'verbose_name': 'funding approval'},
        ),
        migrations.AlterModelOptions(
            name='confirmationlink',
            options={'verbose_name': 'funding approval link'},
        ),
        migrations.AlterModelOptions(
            name='fundingsource',
            options={'permissions': (('reveal_source_number', 'Can see the full number of a bank account'),), 'verbose_name': 'bank account'},
        ),
        migrations.AlterModelOptions(
            name='sourceverification',
            options={'verbose_name': 'micro-deposit verification'},
        ),
        migrations.AlterField(
            model_name='autofundingconfig',
            name='funding_method',
            field=models.CharField(blank=True, choices=[('ach_debit', 'ACH debit'), ('rtp', 'RTP')], max_length=9),
        ),
        migrations.AlterField(
            model_name='confirmation',
            name='decision',
            field=models.CharField(choices=[('open', 'Waiting'), ('approved', 'Approved'), ('declined', 'Declined'), ('expired', 'Expired'), ('superseded', 'Withdrawn')], default='open', max_length=10),
        ),
        migrations.AlterField(
            model_name='fundingevent',
            name='actor_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
        migrations.AlterField(
            model_name='fundingevent',
            name='to_status',
            field=models.CharField(choices=[('reserved', 'Reserved'), ('awaiting_confirmation', 'Needs approval'), ('pending', 'Submitted'), ('in_transit', 'In transit'), ('completed', 'Completed'), ('failed', 'Failed')], max_length=21),
        ),
        migrations.AlterField(
            model_name='fundingsource',
            name='status',
            field=models.CharField(choices=[('pending_verification', 'Needs verification'), ('active', 'Active'), ('verification_failed', 'Verification failed'), ('errored', 'Refused by the bank'), ('removed', 'Removed')], max_length=20),
        ),
        migrations.AlterField(
            model_name='fundingsource',
            name='supported_methods',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('ach_debit', 'ACH debit'), ('rtp', 'RTP')], max_length=9), size=None),
        ),
        migrations.AlterField(
            model_name='fundingsource',
            name='verification_method',
            field=models.CharField(choices=[('bank_link', 'Bank link'), ('micro_deposits', 'Micro-deposits'), ('sandbox', 'Sandbox')], max_length=14),
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='created_by_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='method',
            field=models.CharField(choices=[('ach_debit', 'ACH debit'), ('rtp', 'RTP')], max_length=9),
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='status',
            field=models.CharField(choices=[('reserved', 'Reserved'), ('awaiting_confirmation', 'Needs approval'), ('pending', 'Submitted'), ('in_transit', 'In transit'), ('completed', 'Completed'), ('failed', 'Failed')], max_length=21),
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='trigger',
            field=models.CharField(choices=[('topup', 'Top-up'), ('auto_funding', 'Auto-funding'), ('staff', 'Staff')], max_length=12),
        ),
    ]
