from __future__ import annotations

from django.db import migrations

# Deliveries are a queue: rows change a few times within minutes and then rest. Room on the page
# keeps the new versions near, and an early vacuum keeps claims at the length of the real queue.
_TUNE = """
ALTER TABLE webhooks_webhookdelivery SET (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000
);
ALTER TABLE webhooks_webhookendpoint SET (fillfactor = 70);
"""
_RESET = """
ALTER TABLE webhooks_webhookdelivery RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold
);
ALTER TABLE webhooks_webhookendpoint RESET (fillfactor);
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [migrations.RunSQL(_TUNE, _RESET)]
