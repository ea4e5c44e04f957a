from __future__ import annotations

from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "common"

    def ready(self) -> None:
        """Reword what Django's fields say before any form is made: this app is the first."""
        from common import field_texts

        field_texts.use()
