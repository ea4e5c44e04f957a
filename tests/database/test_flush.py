from __future__ import annotations

import pytest
from django.core.management import call_command

from networks.rails.models import Rail, RailKind, Route
from tests.builders import NOW


@pytest.mark.django_db(transaction=True)
def test_rails_and_routes_are_what_migrations_made_again():
    before = list(Route.objects.order_by("pk").values())
    Rail.objects.create(name="second", kind=RailKind.STAND_IN, driver="sandbox", created_at=NOW)
    Route.objects.update(rail_id="second")

    call_command("flush", verbosity=0, interactive=False)

    assert [rail.name for rail in Rail.objects.order_by("pk")] == ["sandbox", "sandbox_rtp"]
    assert list(Route.objects.order_by("pk").values()) == before
