"""What the pages of a person's own account ask, which django-allauth renders."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from tenants import enrolment, session_life
from tenants.sso import connections

register = template.Library()


@register.simple_tag(takes_context=True)
def may_add_factor(context: dict[str, Any]) -> bool:
    """Whether a button to add a second factor leads anywhere: not for staff without a factor, who
    have not opened the link of a colleague. One query."""
    request = context["request"]
    return enrolment.may_ask(request, user=request.user)


@register.simple_tag(takes_context=True)
def session_limits(context: dict[str, Any]) -> dict[str, int]:
    """After how many idle minutes, and after how many hours, a session of the reader ends."""
    rests, lasts = session_life.limits(is_staff=context["request"].user.is_staff)
    return {
        "minutes": int(rests.total_seconds() // 60),
        "hours": int(lasts.total_seconds() // 3600),
    }


@register.simple_tag(takes_context=True)
def sign_in_connections(context: dict[str, Any]) -> dict[str, Any]:
    """`staff`: our staff's connection of single sign-on, for who is on the way to the desk; `any`:
    whether there is a connection at all. Which organizations have one is told to nobody."""
    wanted = str(context.get("redirect_field_value") or "")
    is_on_way_to_desk = wanted.startswith(reverse("admin:index"))
    return {
        "staff": connections.of_staff() if is_on_way_to_desk else None,
        "any": bool(connections.connected()),
    }
