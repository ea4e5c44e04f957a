"""Pages as staff see them who look as a tenant does: what would act is visibly out of order.

The server refuses them whatever they send (`dashboard.access`). This takes the buttons away that
would promise otherwise, in one place, from pages that know nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.urls import Resolver404, resolve

_WHY = "Staff view: only to look"
_FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
_BUTTON = re.compile(r"<button\b(?![^>]*\sdisabled\b)")
_LINK = re.compile(
    r'<a\b(?=[^>]*\bclass="button)[^>]*?\shref="([^"#?]+)[^"]*"[^>]*>(.*?)</a>', re.DOTALL
)
_CLASS = re.compile(r'\bclass="([^"]*)"')
_LIVE = re.compile(r'\shx-(?:post|put|patch|delete)="[^"]*"')


def acts(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view whose page is there to change something."""
    view.acts = True  # type: ignore[attr-defined]  # any function takes attributes
    return view


def tie(page: str) -> str:
    """`page` with the buttons of its acting forms, and those that lead to such forms, disabled."""
    page = _FORM.sub(_tie_form, page)
    page = _LINK.sub(_tie_link, page)
    return _LIVE.sub("", page)


def _tie_form(found: re.Match[str]) -> str:
    """A form that acts names the tenant it acts for (components/guard.html)."""
    form = found[0]
    if 'name="acting_for"' not in form:
        return form
    return _BUTTON.sub(f'<button disabled title="{_WHY}"', form)


def _tie_link(found: re.Match[str]) -> str:
    path, label = found[1], found[2]
    if not _leads_to_act(path):
        return found[0]
    kept = _CLASS.search(found[0])
    classes = kept[1] if kept else "button"
    return f'<span class="{classes}" role="link" aria-disabled="true" title="{_WHY}">{label}</span>'


def _leads_to_act(path: str) -> bool:
    try:
        return getattr(resolve(path).func, "acts", False)
    except Resolver404:
        return False
