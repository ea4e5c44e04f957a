"""How a refusal of a service is shown to people: in words, next to the field it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django import forms

from common.errors import DomainError


def add_to(form: forms.Form, refusal: DomainError, *, fields: Mapping[str, str]) -> None:
    """Put `refusal` next to its field; `fields` maps names of the API to those of the form."""
    name = fields.get(refusal.field or "", refusal.field)
    form.add_error(name if name in form.fields else None, sentence(refusal))


def sentence(refusal: DomainError) -> str:
    """What went wrong and what to do; advice that names members of the API is for programs."""
    return refusal.detail if "`" in refusal.advice else f"{refusal.detail} {refusal.advice}"


@contextmanager
def of_this_field() -> Iterator[None]:
    """For a form's `clean_…`: what a check of the domain refuses is shown at once, with the errors
    of the other fields, instead of after they are mended."""
    try:
        yield
    except DomainError as refusal:
        raise forms.ValidationError(sentence(refusal)) from refusal
