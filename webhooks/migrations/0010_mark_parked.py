from django.db import migrations

# A parked delivery said so by its time alone. One that a dispatcher of the last release parks after
# this is not marked: it is sent when its hour is over, not at the end of the one it waits for.
_MARK = """
UPDATE webhooks_webhookdelivery SET is_parked = true
WHERE status = 'pending' AND payment_id <> '' AND leased_until IS NULL
    AND next_attempt_at = queued_at + interval '1 hour'
"""


class Migration(migrations.Migration):
    """A migration of its own: the new column locked the table, and this may take a while."""

    dependencies = [("webhooks", "0009_parked")]

    operations = [migrations.RunSQL(_MARK, reverse_sql=migrations.RunSQL.noop)]
