"""Shows on the pages of the desk what staff have stopped."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from tenants.services import switches

SHOWN_MAX = 5

register = template.Library()


@register.filter
def main_landmark(page: SafeString) -> SafeString:
    """Add the main landmark that unfold's frame lacks, for people who move about by landmarks."""
    return mark_safe(page.replace('<div id="main"', '<div id="main" role="main"', 1))  # noqa: S308  # a rendered template


@register.inclusion_tag("admin/operator_banner.html", takes_context=True)
def operator_banner(context: dict[str, Any]) -> dict[str, Any]:
    """Show the engaged switches, to staff who are signed in. One query per page, two if there are
    any."""
    if not context.get("has_permission") or not switches.is_any_engaged():
        return {}
    engaged = list(switches.engaged_now())
    return {"switches": engaged[:SHOWN_MAX], "more": max(0, len(engaged) - SHOWN_MAX)}
