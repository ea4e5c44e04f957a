"""Instant payments of sandbox tenants get a rail of their own, so that an automatic payment can go
by ACH under its id after the instant one was refused."""

from django.db import migrations
from django.utils import timezone

# Not where somebody led the route by hand: it leads where the audit log says.
LEAD = """
UPDATE rails_route SET rail_id = 'sandbox_rtp', changed_at = now()
WHERE mode = 'sandbox' AND method = 'rtp_credit' AND rail_id = 'sandbox' AND is_open
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = rails_route.id COLLATE "default" AND line.tenant_id IS NULL)
"""


def make_rail(apps, schema_editor):
    rail = apps.get_model("rails", "Rail")(
        name="sandbox_rtp", kind="stand_in", driver="sandbox", created_at=timezone.now()
    )
    type(rail).objects.bulk_create([rail], ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox_bank", "0008_books_of_each_rail"),
        ("rails", "0001_initial"),
        ("tenants", "0005_staff_notes"),
    ]

    operations = [
        # Backwards the rail stays, because nobody may delete it.
        migrations.RunPython(make_rail, migrations.RunPython.noop),
        migrations.RunSQL(LEAD, migrations.RunSQL.noop),
    ]
