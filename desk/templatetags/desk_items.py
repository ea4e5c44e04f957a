"""The work on an item, on any page of the desk."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Model
from django.template.context import RequestContext

from desk.items import notes
from desk.items.panel import panel
from desk.items.subjects import subject_of

register = template.Library()


@register.inclusion_tag("desk/items/_panel.html", takes_context=True)
def work_on(context: RequestContext, row: Model) -> dict[str, Any]:
    """Who works on the item, and the notes on it. Nothing for who may not read notes."""
    request = context["request"]
    if not request.user.has_perm(notes.READS):
        return {}
    # Its forms carry the token of the page.
    return {"panel": panel(request, subject_of(row)), "csrf_token": context.get("csrf_token")}
