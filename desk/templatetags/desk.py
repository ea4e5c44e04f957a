"""How values look at the staff desk."""

from __future__ import annotations

from django import template

register = template.Library()

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@register.filter
def duration(seconds: int) -> str:
    """The two largest units: `95` → `1 min 35 s`."""
    parts = []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
