from __future__ import annotations

from django.apps import AppConfig


class FundingConfig(AppConfig):
    name = "funding"
    verbose_name = "Funding"
