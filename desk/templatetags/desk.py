"""How values look at the staff desk."""

from __future__ import annotations

from datetime import datetime

from django import template

from common.clock import utc_now
from networks.ach import bank_clock

register = template.Library()

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@register.inclusion_tag("desk/_bank_clock.html")
def bank_time() -> dict[str, datetime | None]:
    """What the bank's clock shows, in a development copy whose stand-in bank runs ahead."""
    return {"at": bank_clock.shown(utc_now())}


@register.filter
def duration(seconds: int) -> str:
    """The two largest units: `95` → `1 min 35 s`."""
    parts = []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
