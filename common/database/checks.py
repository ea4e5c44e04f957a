"""Checks of the database's roles for `manage.py check`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from common.database import roles


@register()
def one_address(**_kwargs: Any) -> list[CheckMessage]:
    """In development, warn that the product connects as the owner. Elsewhere it does not start."""
    if not settings.DEBUG or settings.DATABASE_OWNER_URL or settings.ALLOW_DATABASE_OWNER:
        return []
    return [
        Warning(
            "DATABASE_URL is the only address of the database, so the product works as the owner"
            " of its tables, which no grant binds: production refuses that.",
            hint="Set DATABASE_OWNER_URL to the owner's address (docs/operations.md, Roles).",
            id="ballast.W001",
        )
    ]


@register(Tags.database, deploy=True)
def role_is_bound(*, databases: Any = None, **_kwargs: Any) -> list[CheckMessage]:
    """`check --deploy --database default`: the rights that the role lacks, or has too much."""
    if not databases:
        return []
    return [
        Error(
            f"The database role: {each.words}.", hint="manage.py database_roles", id="ballast.E001"
        )
        for each in roles.problems()
    ]
