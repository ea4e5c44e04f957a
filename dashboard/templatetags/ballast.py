"""How values look in pages and e-mails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.utils.dateparse import parse_datetime
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from common import days
from common.money import format_cents
from dashboard.shell import addresses, plain_text
from dashboard.shell import navigation as navigation_lines
from dashboard.shell.badges import Badge
from tenants import browsers
from tenants.models import Role

register = template.Library()

_BACKTICKS = re.compile("`([^`]+)`")


register.filter("wrapped", plain_text.wrapped)
register.filter("own_lines", plain_text.own_lines)


@register.filter
def control(field: BoundField) -> SafeString:
    """The field's control; after a mistake the first wrong one has the focus."""
    is_first_wrong = next(iter(field.form.errors), None) == field.name
    return field.as_widget(attrs={"autofocus": True} if is_first_wrong else None)


@register.filter
def money(cents: int) -> str:
    """`123456` → `$1,234.56`; a minus sign as wide as the digits."""
    return format_cents(cents).replace("-", "−")


@register.filter
def signed_money(cents: int) -> str:
    """`25000` → `+$250.00`."""
    return money(cents) if cents <= 0 else f"+{money(cents)}"


@register.filter
def moment(at: datetime | str) -> str:
    """`Nov 20, 2026, 10:04 AM EST`: the time of the books, whose days the limits and statements
    go by, wherever the reader is (decision 0123)."""
    return days.words(_instant(at))


@register.filter
def moment_with_seconds(at: datetime | str) -> str:
    """`Nov 20, 2026, 10:04:31 AM EST`: for what is read beside the log of a program."""
    return days.words(_instant(at), seconds=True)


@register.filter
def when(at: datetime | str) -> SafeString:
    """`moment` as an element; where JavaScript runs, its tooltip has the reader's own time. No
    template, because a list shows a hundred."""
    return _time_element(at, moment(at))


@register.filter
def when_with_seconds(at: datetime | str) -> SafeString:
    """`when`, for what is read beside the log of a program."""
    return _time_element(at, moment_with_seconds(at))


def _time_element(at: datetime | str, words: str) -> SafeString:
    element = '<time class="nowrap" datetime="{}" data-booked>{}</time>'
    return format_html(element, iso(at), words)


@register.filter
def badge(status: Badge) -> SafeString:
    """A status in one or two words, as an element."""
    return format_html('<span class="badge badge--{}">{}</span>', status.tone, status.label)


@register.filter
def page_of(row_id: str, view: str) -> str:
    """The address of a page about this row, for lists: `{% url view row_id %}` takes four times as
    long."""
    return addresses.of_row(view, row_id)


@register.filter
def time_of_day(at: datetime | str) -> str:
    """`10:04 AM EST`: in a list whose lines stand under their day."""
    return days.time_words(_instant(at))


@register.filter
def utc(at: datetime | str) -> str:
    """`Nov 20, 2026, 3:04 PM UTC`: what was typed as UTC."""
    instant = _instant(at)
    hour = instant.hour % 12 or 12
    return f"{instant:%b} {instant.day}, {instant.year}, {hour}:{instant:%M %p} UTC"


@register.filter
def booked_day(at: datetime | str) -> str:
    """`November 20`, the day of the books on which it falls."""
    day = days.day_of(_instant(at))
    return f"{day:%B} {day.day}"


@register.filter
def ending_in(bank_name: str, last4: str) -> str:
    """`First Platypus Bank ending in 6789`."""
    return f"{bank_name or 'Bank account'} ending in {last4}"


@register.filter
def of(values: Mapping[str, str], key: str) -> str:
    """Look a value up by a key that only the template knows."""
    return values[key]


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> SafeString:
    """The navigation of the page that `context` belongs to, as its reader sees it."""
    request = context["request"]
    return navigation_lines.rendered(
        request.resolver_match.view_name,
        may_move_money=request.access.may_move_money,
        is_owner=request.access.role == Role.OWNER,
    )


@register.simple_tag
def current(line: str, page: str) -> str:
    """What `aria-current` says of a line of the navigation; both are URL names."""
    return navigation_lines.current(line, page=page)


@register.filter
def device(user_agent: str) -> str:
    """`Firefox on Windows`, as far as a browser tells."""
    return browsers.named(user_agent)


@register.filter
def iso(at: datetime | str) -> str:
    return _instant(at).isoformat().replace("+00:00", "Z")


def _instant(at: datetime | str) -> datetime:
    parsed = parse_datetime(at) if isinstance(at, str) else at
    if parsed is None or parsed.tzinfo is None:
        raise ValueError(f"not an instant: {at!r}")
    return parsed.astimezone(UTC)


@register.filter
def backticks(text: str) -> str:
    """Escaped text in which `this` is set as code."""
    return mark_safe(_BACKTICKS.sub(r"<code>\1</code>", escape(text)))  # noqa: S308  # escaped
