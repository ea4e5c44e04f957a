from __future__ import annotations

from typing import Any

from common.commands import JsonCommand
from desk import roles


class Command(JsonCommand):
    help = "Make or refresh the groups of staff permissions (docs/operations.md)."

    def perform(self, **_options: Any) -> dict[str, Any]:
        return {"permissions": roles.ensure()}
