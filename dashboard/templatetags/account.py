"""What the pages of a person's own account ask, which django-allauth renders."""

from __future__ import annotations

from typing import Any

from django import template

from tenants import enrolment

register = template.Library()


@register.simple_tag(takes_context=True)
def may_add_factor(context: dict[str, Any]) -> bool:
    """Whether a button to add a second factor leads anywhere: not for staff without a factor, who
    have not opened the link of a colleague. One query."""
    request = context["request"]
    return enrolment.may_ask(request, user=request.user)
