"""The admin's lists without what unfold repeats in each of their cells."""

from __future__ import annotations

import re

from django import template
from django.utils.safestring import SafeString, mark_safe
from unfold.templatetags import unfold_list

# Unfold's names of the looks of a cell, and what is left of them: operator.css knows a cell by its
# place in a row.
_NAMES = {
    " ".join(["", *unfold_list.ROW_CLASSES]): "",
    " ".join(unfold_list.CHECKBOX_CLASSES): "action-checkbox",
    " ".join(unfold_list.LINK_CLASSES): "desk-link",
}
_CHECKBOX = re.compile(r'(<input type="checkbox"[^>]* class=")[^"]*"')

register = template.Library()


@register.filter
def slim(cell: SafeString) -> SafeString:
    """The cell of a list with the names that our own rules and the admin's scripts know."""
    text = str(cell)
    for theirs, ours in _NAMES.items():
        text = text.replace(theirs, ours)
    return mark_safe(_CHECKBOX.sub(r'\1action-select"', text))  # noqa: S308  # only classes changed
