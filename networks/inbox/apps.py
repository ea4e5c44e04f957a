from __future__ import annotations

from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "networks.inbox"
    label = "network_inbox"
    verbose_name = "Messages of networks"
