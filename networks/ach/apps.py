from __future__ import annotations

from django.apps import AppConfig


class AchConfig(AppConfig):
    name = "networks.ach"
    label = "ach"
    verbose_name = "ACH"
