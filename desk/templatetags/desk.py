"""How values look at the staff desk."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import template

from common.admin_tones import STANDINGS, tone_of
from common.clock import utc_now
from networks.ach import bank_clock

register = template.Library()

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@register.inclusion_tag("desk/_bank_clock.html")
def bank_time() -> dict[str, datetime | None]:
    """What the bank's clock shows, in a development copy whose stand-in bank runs ahead."""
    return {"at": bank_clock.shown(utc_now())}


@register.filter
def host(url: str) -> str:
    """Of an endpoint what everybody may see who sees its deliveries."""
    return urlsplit(url).hostname or ""


@register.filter
def tone_in(row: Any, name: str) -> str:
    """The tone of the badge in which this column of a row stands; empty where it is none."""
    return tone_of(getattr(row, name)) if name in STANDINGS else ""


@register.filter
def is_set(fieldset: Any) -> bool:
    """Whether the reader can change one of these columns."""
    return any(not column.is_readonly for line in fieldset for column in line)


@register.filter
def said(column: Any) -> str:
    """What a read-only column of a row says; empty where the row has nothing there. Of a boolean
    Yes or No: a red cross would make a healthy “Returned: no” look alarming."""
    name = column.field["field"]
    value = getattr(column.form.instance, name, None) if isinstance(name, str) else None
    if isinstance(value, bool):
        return "Yes" if value else "No"
    text: str = column.contents()
    return "" if text in ("", "-", "None", "[]", column.empty_value_display) else text


@register.filter
def duration(seconds: int) -> str:
    """The two largest units: `95` → `1 min 35 s`."""
    parts = []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
