"""What people have to look at on instant rails, counted."""

from __future__ import annotations

from typing import NamedTuple

from networks.instant import reviewing
from networks.instant.models import InstantLine


class Waiting(NamedTuple):
    """`in_review`: conversations that a person has to look at. `faulty`: messages that changed
    nothing, and that nobody has looked at. `lines`: rails that are not heard."""

    in_review: int
    faulty: int
    lines: int


def waiting() -> Waiting:
    """Three small queries."""
    return Waiting(
        in_review=reviewing.conversations().count(),
        faulty=reviewing.messages().count(),
        lines=InstantLine.objects.exclude(trouble="").count(),
    )
