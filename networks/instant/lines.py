"""The lines by which messages of instant rails are received: what is in their way."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from networks.instant.models import InstantLine


def try_again(rail: str, *, now: datetime) -> bool:
    """Look at once, because what was in the way was mended. False if nothing was."""
    lines = InstantLine.objects.filter(pk=rail).exclude(trouble="")
    return bool(lines.update(next_attempt_at=now, attempts=0))


def in_trouble() -> QuerySet[InstantLine]:
    return InstantLine.objects.exclude(trouble="").order_by("trouble_since", "pk")
