from django.db import migrations
from django.utils import timezone

from common import ids

METHODS = ("ach_debit", "ach_credit", "rtp_request", "rtp_credit")


def make_rail(apps, schema_editor):
    """The sandbox bank carries every method of sandbox tenants, as it did before there were rows."""
    now = timezone.now()
    rail = apps.get_model("rails", "Rail")(
        name="sandbox", kind="stand_in", driver="sandbox", created_at=now
    )
    route = apps.get_model("rails", "Route")
    routes = [
        route(
            id=ids.new("rte"),
            mode="sandbox",
            method=method,
            rail=rail,
            rail_kind=rail.kind,
            changed_at=now,
        )
        for method in METHODS
    ]
    type(rail).objects.bulk_create([rail], ignore_conflicts=True)
    route.objects.bulk_create(routes, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox_bank", "0005_corrected_known"),
        ("rails", "0001_initial"),
    ]

    operations = [
        # Backwards they stay, because nobody may delete them; they are found when it is run again.
        migrations.RunPython(make_rail, migrations.RunPython.noop),
    ]
