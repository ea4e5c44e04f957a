"""Payments whose method was left to us, and the tries that networks refused."""

import common.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0037_operator_lines'),
    ]

    operations = [
        migrations.CreateModel(
            name='PaymentAttempt',
            fields=[
                ('id', common.fields.PrefixedIdField('pat')),
                ('payment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='refused_tries', to='payments.payment')),
                ('number', models.PositiveSmallIntegerField()),
                ('method', models.CharField(choices=[('ach_credit', 'ACH transfer'), ('rtp', 'Instant payment (RTP)')], max_length=10)),
                ('network', models.CharField(max_length=16)),
                ('network_reference', models.CharField(blank=True, max_length=64)),
                ('code', models.CharField(help_text='what the network said', max_length=40)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('sent_at', models.DateTimeField(blank=True, help_text='when the network took it over; null if it never did', null=True)),
                ('ended_at', models.DateTimeField(help_text='when we heard that the network refuses it')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('payment', 'number'), name='one_payment_try_a_number'),
                    models.CheckConstraint(condition=models.Q(('code', ''), _negated=True), name='payment_try_has_a_code'),
                ],
                'indexes': [models.Index(fields=['ended_at'], name='payment_try_age')],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='payment',
            name='payment_moves',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='payment',
            name='payment_terms_never_change',
        ),
        migrations.AddField(
            model_name='payment',
            name='is_automatic',
            field=models.BooleanField(db_default=False, default=False, help_text='whether the method was left to us: `method` is the one in use'),
        ),
        migrations.AddField(
            model_name='payment',
            name='tries',
            field=models.PositiveSmallIntegerField(db_default=1, default=1, editable=False, help_text='by how many methods it was tried; the refused ones are rows of their own'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='payment',
            trigger=pgtrigger.compiler.Trigger(name='payment_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.status IS DISTINCT FROM NEW.status AND NOT ((OLD.status = 'completed' AND NEW.status = 'returned') OR (OLD.status = 'created' AND NEW.status = 'canceled') OR (OLD.status = 'created' AND NEW.status = 'failed') OR (OLD.status = 'created' AND NEW.status = 'processing') OR (OLD.status = 'processing' AND NEW.status = 'completed') OR (OLD.status = 'processing' AND NEW.status = 'created') OR (OLD.status = 'processing' AND NEW.status = 'failed') OR (OLD.status = 'waiting_for_funds' AND NEW.status = 'canceled') OR (OLD.status = 'waiting_for_funds' AND NEW.status = 'created') OR (OLD.status = 'waiting_for_funds' AND NEW.status = 'failed')))", func="RAISE EXCEPTION 'status cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';", hash='fcd7951a5230389ee0bc0b7d043cb04ecb967459', operation='UPDATE OF "status"', pgid='pgtrigger_payment_moves_afd55', table='payments_payment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='payment',
            trigger=pgtrigger.compiler.Trigger(name='payment_terms_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."recipient_id" IS DISTINCT FROM (NEW."recipient_id") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."is_automatic" IS DISTINCT FROM (NEW."is_automatic") OR OLD."speed" IS DISTINCT FROM (NEW."speed") OR OLD."requires_confirmation" IS DISTINCT FROM (NEW."requires_confirmation") OR OLD."counted_for" IS DISTINCT FROM (NEW."counted_for"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='e3b601c687111da1e5b4404f3c9857dd9cd461e7', operation='UPDATE', pgid='pgtrigger_payment_terms_never_change_35d62', table='payments_payment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='payment',
            trigger=pgtrigger.compiler.Trigger(name='goes_another_way_once_refused', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.status = 'processing' AND NEW.status = 'created' OR (OLD.method, OLD.network, OLD.tries) IS DISTINCT FROM (NEW.method, NEW.network, NEW.tries))", func="\nIF OLD.is_automatic AND OLD.held_at IS NULL AND OLD.settlement_date IS NULL\n    AND OLD.status IN ('created', 'processing') AND NEW.status = 'created'\n    AND NEW.tries = OLD.tries + 1\n    AND NEW.method <> OLD.method AND NEW.network <> OLD.network AND EXISTS (\n        SELECT FROM payments_paymentattempt AS refused\n        WHERE refused.payment_id = NEW.id AND refused.number = OLD.tries\n            AND refused.method = OLD.method AND refused.network = OLD.network\n    )\nTHEN RETURN NEW; END IF;\nRAISE EXCEPTION 'payment % goes no other way without a refused try', NEW.id;\n", hash='76e777ce143f8e3abcbf5a6f6fa16214b91369ac', operation='UPDATE', pgid='pgtrigger_goes_another_way_once_refused_c4917', table='payments_payment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='paymentattempt',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='61854df97696c1606f6ca1ab0332a77e63c1e149', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_add51', table='payments_paymentattempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='paymentattempt',
            trigger=pgtrigger.compiler.Trigger(name='never_truncated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;", hash='d0d51561c13bfd80bd76c7c81a75e84ae8c49bf4', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_never_truncated_6a330', table='payments_paymentattempt', when='BEFORE')),
        ),
    ]
