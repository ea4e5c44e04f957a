"""What rows are called at the desk: words for people, without what only a database needs."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import models

from tests.builders import NOW, make_member
from tests.desk.test_lists import EVERY, label, live

CENTS = 98_765_432
INTERNAL = re.compile(
    r"\b(?:ten|usr|ftx|pay|evt|dlv|btx|whe)_[0-9a-z]{6}"  # an id
    r"|\b[a-z]+_[a-z_]+\b"  # a stored word, as `in_transit`
    rf"|{CENTS}"  # an amount in cents
    r"|\b(?:View|Change|Select) [a-z]"  # the admin's own titles
)
TITLES = re.compile(
    r"<title>(.*?)</title>"
    r"|truncate tracking-tight\">(.*?)</(?:a|span)"
    r'|<th[^>]*scope="row"[^>]*><a[^>]*>(.*?)</a>',
    re.DOTALL,
)


KNOWN = {"reason": "below_threshold", "url": "https://hooks.acme.example/in"}


def titles(page):
    found = (" ".join(found).split() for found in TITLES.findall(page))
    return {" ".join(words) for words in found}


def filled(model, *, tenant, person):
    """An unsaved row in which every column has a value, the longest word where there are some."""
    values = {}
    for field in model._meta.concrete_fields:
        if field.is_relation:
            known = {"tenant": tenant, "user": person, "group": None}.get(field.name, uuid4())
            if isinstance(known, models.Model):
                values[field.name] = known
            continue
        values[field.name] = _value(field, tenant)
    return model(**values)


def _value(field, tenant):
    if field.choices:
        return max((value for value, _ in field.flatchoices), key=_underscores)
    if isinstance(field, models.DateTimeField):
        return NOW + timedelta(days=1)
    if isinstance(field, models.DateField):
        return NOW.date()
    if isinstance(field, models.BooleanField):
        return True
    if isinstance(field, models.BigIntegerField):
        return CENTS
    if isinstance(field, models.IntegerField):
        return 3
    if field.name in ("tenant_id", "chain"):
        return tenant.pk
    return KNOWN.get(field.name, "x")


def _underscores(value):
    return str(value).count("_")


# They name rows of others, which `live` makes.
NAME_OTHERS = {"tenants.staffpower", "ach.railversion"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "model", [m for m in EVERY if label(m) not in NAME_OTHERS], ids=lambda model: label(model)
)
def test_no_row_is_called_by_internals(acme, model):
    person = make_member(acme, email="dana@acme.example")

    name = str(filled(model, tenant=acme, person=person))

    assert name
    assert INTERNAL.search(name) is None, name


def test_no_page_has_internals_in_its_titles(desk, acme):
    live(acme, "dana@acme.example")
    rows = {label(model): row for model in EVERY if (row := model._default_manager.first())}
    wrong = {}
    for name, row in rows.items():
        path = f"/admin/{name.replace('.', '/')}/"
        for address in (path, f"{path}{row.pk}/change/"):
            page = desk.get(address, follow=True).content.decode()
            if found := {title for title in titles(page) if INTERNAL.search(title)}:
                wrong[address] = found

    assert wrong == {}
    assert len(rows) > 15


def test_an_address_begins_as_it_is_written(desk, acme):
    person = make_member(acme, email="lee@acme.example")

    page = desk.get(f"/admin/tenants/user/{person.pk}/change/").content.decode()

    assert "<title>lee@acme.example |" in " ".join(page.split()).replace("<title> ", "<title>")
