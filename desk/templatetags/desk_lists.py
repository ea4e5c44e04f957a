"""The rows of the admin's lists, with one short cell per column.

Unfold's own rows repeat twenty classes in each cell, and a list of fifty took up to 422 KB. What a
cell looks like follows from its column: an amount stands on the right (`common.admin.dollars`), a
status is a badge (`common.admin_tones`), a boolean is Yes or No.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
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

from common import days
from common.admin_tones import STANDINGS, tone_of

CHECKBOX = "action_checkbox"
_EMPTY = '<td class="none">–</td>'  # a card on a phone leaves it out
_SELECT = (
    '<td class="select"><input type="checkbox" name="_selected_action" value="{}"'
    ' class="action-select" aria-label="Select"></td>'
)

register = template.Library()


@dataclass(frozen=True)
class Column:
    """What stands above a column, and how its cells begin; `looks` is their class."""

    name: Any
    text: str = ""
    looks: str = ""
    is_linked: bool = False

    @property
    def is_checkbox(self) -> bool:
        return bool(self.name == CHECKBOX)

    @cached_property
    def opening(self) -> SafeString:
        """The tag that opens each cell: a list has hundreds of them, so it is made once."""
        tag = '<th{} scope="row" data-label="{}">' if self.is_linked else '<td{} data-label="{}">'
        looks = format_html(' class="{}"', self.looks) if self.looks else ""
        return format_html(tag, looks, self.text)


@register.inclusion_tag("admin/rows.html", takes_context=True)
def desk_rows(context: dict[str, Any]) -> dict[str, Any]:
    """The headers and rows of the list that is shown."""
    shown = context["cl"]
    columns = [_column(shown, name) for name in shown.list_display]
    return {
        "cl": shown,
        "headers": columns,
        "rows": [row_of(shown, columns, row) for row in shown.result_list],
        "has_add_permission": context.get("has_add_permission", False),
    }


def _column(shown: Any, name: Any) -> Column:
    if name == CHECKBOX:
        return Column(name)
    text, attr = label_for_field(name, shown.model, model_admin=shown.model_admin, return_attr=True)
    looks = "amount" if getattr(attr, "is_amount", False) else ""
    return Column(name, str(text), looks, is_linked=name == _linked(shown))


def _linked(shown: Any) -> Any:
    """The column that leads to the page of a row."""
    columns = [name for name in shown.list_display if name != CHECKBOX]
    return (list(shown.list_display_links or []) or columns)[0]


def row_of(shown: Any, columns: list[Column], row: models.Model) -> SafeString:
    """The cells of one row. Its address stands on the column that `list_display_links` names."""
    return mark_safe("".join(_cell(shown, column, row) for column in columns))  # noqa: S308  # of escaped cells


def _cell(shown: Any, column: Column, row: models.Model) -> str:
    if column.is_checkbox:
        return format_html(_SELECT, row.pk)
    text = text_of(shown.model_admin, column.name, row)
    if column.is_linked:
        address = conditional_escape(_address(shown, row))
        return f'{column.opening}<a href="{address}">{text or "–"}</a></th>'
    return f"{column.opening}{text}</td>" if text else _EMPTY


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


def text_of(desk: Any, name: Any, row: models.Model) -> str:
    """What a cell says, as HTML; empty for a column that the row does not have."""
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
    if isinstance(value, datetime):
        return days.words(value)
    if field is None or field.auto_created:
        return display_for_value(value, "")  # type: ignore[no-any-return]  # unfold has no types
    if field.is_relation:
        return str(getattr(row, field.name))
    return display_for_field(value, field, "")  # type: ignore[no-any-return]  # unfold has no types
