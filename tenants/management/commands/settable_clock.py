from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from common import database_clock
from common.commands import JsonCommand


class Command(JsonCommand):
    help = (
        "Let tests and demonstrations choose the database's time. For development only, by the"
        " owner of the database; refused unless DEBUG=True."
    )

    def perform(self, **_options: Any) -> dict[str, Any]:
        try:
            database_clock.make_settable()
        except database_clock.ClockIsNotSettable as error:
            raise CommandError(str(error)) from error
        return {"settable": True}
