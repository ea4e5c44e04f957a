"""The rows of the admin's lists, with one short cell per column.

Unfold's own rows repeat twenty classes in each cell, and a list of fifty took up to 422 KB. What a
cell looks like follows from its column: an amount stands on the right (`common.admin.dollars`), a
status is a badge (`common.admin_tones`), a boolean is Yes or No.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from unfold.utils import display_for_field, display_for_value

from common.admin_tones import STANDINGS, tone_of

CHECKBOX = "action_checkbox"
_EMPTY = mark_safe('<td class="none">–</td>')  # a card on a phone leaves it out
_SELECT = (
    '<td class="select"><input type="checkbox" name="_selected_action" value="{}"'
    ' class="action-select" aria-label="Select"></td>'
)

register = template.Library()


@dataclass(frozen=True)
class Header:
    """What stands above a column; `looks` is the class of its cells."""

    text: str
    looks: str = ""
    is_checkbox: bool = False


@register.inclusion_tag("admin/rows.html", takes_context=True)
def desk_rows(context: dict[str, Any]) -> dict[str, Any]:
    """The headers and rows of the list that is shown."""
    shown = context["cl"]
    headers = [_header(shown, name) for name in shown.list_display]
    return {
        "cl": shown,
        "headers": headers,
        "rows": [row_of(shown, headers, row) for row in shown.result_list],
        "has_add_permission": context.get("has_add_permission", False),
    }


def _header(shown: Any, name: Any) -> Header:
    if name == CHECKBOX:
        return Header("", is_checkbox=True)
    text, attr = label_for_field(name, shown.model, model_admin=shown.model_admin, return_attr=True)
    return Header(str(text), "amount" if getattr(attr, "is_amount", False) else "")


def row_of(shown: Any, headers: list[Header], row: models.Model) -> SafeString:
    """The cells of one row. Its address stands on the column that `list_display_links` names."""
    return mark_safe("".join(_cells(shown, headers, row)))  # noqa: S308  # of escaped cells


def _cells(shown: Any, headers: list[Header], row: models.Model) -> Iterator[str]:
    linked = _linked(shown)
    for name, header in zip(shown.list_display, headers, strict=True):
        if header.is_checkbox:
            yield format_html(_SELECT, row.pk)
            continue
        text = text_of(shown.model_admin, name, row)
        if name == linked:
            yield _link(shown, row, header, text)
        elif text:
            yield format_html('<td{} data-label="{}">{}</td>', _looks(header), header.text, text)
        else:
            yield _EMPTY


def _linked(shown: Any) -> Any:
    """The column that leads to the page of a row."""
    columns = [name for name in shown.list_display if name != CHECKBOX]
    return (list(shown.list_display_links or []) or columns)[0]


def _link(shown: Any, row: models.Model, header: Header, text: str) -> str:
    address = _address(shown, row)
    return format_html(
        '<th{} scope="row" data-label="{}"><a href="{}">{}</a></th>',
        _looks(header),
        header.text,
        address,
        text or "–",
    )


def _address(shown: Any, row: models.Model) -> str:
    """That of the desk's own page; else relative to the list, with what was searched and filtered
    for, to come back to."""
    own: str = shown.url_for_result(row)
    _list, found, page = own.partition(f"/{shown.opts.app_label}/{shown.opts.model_name}/")
    if not found:
        return own
    kept = {"preserved_filters": shown.preserved_filters, "opts": shown.opts}
    kept_too: str = add_preserved_filters(kept, own)
    return kept_too[len(own) - len(page) :]


def _looks(header: Header) -> SafeString:
    return format_html(' class="{}"', header.looks) if header.looks else mark_safe("")


def text_of(desk: Any, name: Any, row: models.Model) -> str:
    """What a cell says; empty for a column that the row does not have."""
    try:
        field, attr, value = lookup_field(name, row, desk)
    except ObjectDoesNotExist:
        return ""
    if value in (None, "") or value == desk.get_empty_value_display():
        return ""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    text = _words(field, row, value)
    tone = getattr(attr, "tone", None)
    if tone is not None or name in STANDINGS:
        shown_tone = tone(row) if tone is not None else tone_of(value)
        return format_html('<span class="pill pill--{}">{}</span>', shown_tone, capfirst(text))
    return conditional_escape(text)


def _words(field: Any, row: models.Model, value: Any) -> str:
    if field is None or field.auto_created:
        return display_for_value(value, "")  # type: ignore[no-any-return]  # unfold has no types
    if field.is_relation:
        return str(getattr(row, field.name))
    return display_for_field(value, field, "")  # type: ignore[no-any-return]  # unfold has no types
