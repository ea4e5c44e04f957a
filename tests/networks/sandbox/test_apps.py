from __future__ import annotations

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured


@pytest.mark.parametrize("pace", ["instant", "seconds", "banking_days"])
def test_starts_at_every_pace(settings, pace):
    settings.SANDBOX_PACE = pace

    apps.get_app_config("sandbox_bank").ready()


@pytest.mark.parametrize("pace", ["", "fast", "INSTANT"])
def test_refuses_to_start_at_a_pace_it_does_not_know(settings, pace):
    settings.SANDBOX_PACE = pace

    with pytest.raises(ImproperlyConfigured, match="instant, seconds, banking_days"):
        apps.get_app_config("sandbox_bank").ready()
