"""Every column of a row, for the desk's own page of it, which shows only what people ask for."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets, label_for_field
from django.db import models
from django.http import HttpRequest
from django.utils.text import capfirst

from desk.templatetags.desk_lists import text_of


def columns_of(request: HttpRequest, row: models.Model) -> list[tuple[str, str]]:
    """The names and values that the row's page in the admin would have: amounts in dollars, the
    empty ones in one line. No query but for what `row` refers to and was not read with it."""
    own: Any = admin.site._registry[type(row)]
    names = flatten_fieldsets(own.get_fieldsets(request, row))
    return [(_label(own, name), text_of(own, name, row)) for name in names]


def _label(own: Any, name: Any) -> str:
    return capfirst(str(label_for_field(name, own.model, model_admin=own)))
