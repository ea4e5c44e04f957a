"""How the API reference is set. Its pages hold hundreds of fields, so these make no spare byte."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from dashboard.developers.docs.reference.parts import Kind

register = template.Library()

_PARAMETER = re.compile(r"({\w+})")


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False})


@register.filter
def marked(text: str) -> SafeString:
    """Markdown of the document as paragraphs; HTML in it is shown, not obeyed."""
    return mark_safe(str(_markdown().render(text)))  # noqa: S308  # no raw HTML


@register.filter
def inline(text: str) -> SafeString:
    """Markdown of one line."""
    return mark_safe(str(_markdown().renderInline(text)))  # noqa: S308  # no raw HTML


@register.filter
def code(text: str) -> SafeString:
    """Escaped for between tags, where quotes may stay as they are."""
    return mark_safe(escape(text, quote=False))  # noqa: S308  # escaped


@register.filter
def path(text: str) -> SafeString:
    """A path with its parameters emphasized; long ones break at a slash."""
    breakable = escape(text).replace("/", "/<wbr>")
    return mark_safe(_PARAMETER.sub(r"<b>\1</b>", breakable))  # noqa: S308  # escaped


@register.filter
def kind(value: Kind) -> SafeString:
    """`integer, cents · at least 1`, set small."""
    words = " · ".join([escape(value.words), *(inline(rule) for rule in value.rules)])
    return mark_safe(f'<span class="kind">{words}</span>')  # noqa: S308  # escaped


@register.filter
def notes(value: Kind) -> SafeString:
    """The description, and the values that there are."""
    found = f"<p>{inline(value.description)}</p>" if value.description else ""
    if value.choices:
        listed = " ".join(f"<code>{escape(choice)}</code>" for choice in value.choices)
        found += f'<p class="choices-of">{listed}</p>'
    return mark_safe(found)  # noqa: S308  # escaped
