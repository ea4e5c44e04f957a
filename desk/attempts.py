"""What somebody at the desk tries, and the sentence that tells them what came of it."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest

from common.errors import StaffRefusal


def succeeds(request: HttpRequest, act: Callable[[], object], *, done: str) -> bool:
    """Act, and say that it is done, or why it was refused; returns whether it was done."""
    try:
        act()
    except StaffRefusal as refusal:
        messages.error(request, _words(refusal))
        return False
    messages.success(request, done)
    return True


def submits(request: HttpRequest, form: Form, act: Callable[[], object], *, done: str) -> bool:
    """Act if what was typed is right; returns whether it was done. A refusal stands in the form."""
    if request.method != "POST" or not form.is_valid():
        return False
    try:
        act()
    except StaffRefusal as refusal:
        form.add_error(None, _words(refusal))
        return False
    messages.success(request, done)
    return True


def _words(refusal: StaffRefusal) -> str:
    return f"{refusal.detail} {refusal.advice}".strip()
