"""Whoever has a role now got it at a time that nobody wrote down: it counts from this moment, so that
what was proposed before is proposed anew. A process of the last release may give roles meanwhile
that have no row; `manage.py staff_member` gives them again."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.utils import timezone


def write_down(apps: Any, _editor: Any) -> None:
    now, through = timezone.now(), apps.get_model("tenants", "User").groups.through
    power = apps.get_model("tenants", "StaffPower")
    rows = through.objects.filter(user__is_staff=True).order_by("pk")
    power.objects.bulk_create(
        (
            power(user_id=row.user_id, group_id=row.group_id, granted_at=now)
            for row in rows.iterator()
        ),
        batch_size=500,
    )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0012_staff_powers")]

    operations = [migrations.RunPython(write_down, migrations.RunPython.noop)]
