"""What the pages of a person's own account ask, which django-allauth renders."""

from __future__ import annotations

from typing import Any

from django import template

from tenants import enrolment, session_life

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
