"""No page shows what a library says by itself: its texts are for programmers, not for people."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import MinimumLengthValidator

from tenants import passwords
from tenants.models import Role
from tests.builders import browser_of, enter_as, make_member
from tests.dashboard.shell.test_every_form import GUARD, Form, forms_of
from tests.dashboard.shell.test_roles import things_of
from tests.dashboard.shell.test_visible_text import every_form, plain_fields

pytestmark = pytest.mark.django_db

# Beginnings and middles of texts of Django, django-allauth and django-unfold.
OF_LIBRARIES = (
    "Ensure this value", "Ensure that", "This field", "Select a valid choice",
    "available choices", "Enter a valid email", "Null characters", "you specified",
    "Your password can", "Please type your current", "yielded into", "Search apps and models",
)  # fmt: skip
TOO_LONG, BELOW_ALL, NO_CHOICE, HIDDEN = "x" * 20_000, "-1", "nonsense", "a\0b"
# They belong to the admin's machinery: what they say is never shown.
NEVER_SHOWN = ("ActionForm", "ManagementForm")


def of_libraries(text: str) -> list[str]:
    return [phrase for phrase in OF_LIBRARIES if phrase in text]


def said(field: forms.Field, value: object) -> str:
    """Why a field refuses a value; nothing where it takes it, or would ask the database."""
    if isinstance(field, forms.ModelChoiceField):
        return ""
    try:
        field.clean(value)
    except forms.ValidationError as refusal:
        return " ".join(refusal.messages)
    return ""


def test_no_field_of_any_form_speaks_like_a_library():
    plain_fields()  # loads every module of ours, and with them the forms of libraries
    fields = {
        (form.__qualname__, name): field
        for form in every_form(forms.BaseForm)
        if form.__name__ not in NEVER_SHOWN
        for name, field in getattr(form, "base_fields", {}).items()
    }
    values = ("", TOO_LONG, BELOW_ALL, "0", "9" * 12, NO_CHOICE, HIDDEN)

    texts = {key: {said(field, value) for value in values} for key, field in fields.items()}

    assert len(texts) > 100
    assert {key: found for key, found in texts.items() if of_libraries(" ".join(found))} == {}


def fillable(form: Form) -> list[str]:
    """The fields that a person fills in or chooses: not what says which form it was."""
    kept = {GUARD, "csrfmiddlewaretoken", "token", "seen", "step", "then", "decision"}
    return [name for name in form.values if name not in kept]


@pytest.mark.parametrize("value", ["", TOO_LONG, BELOW_ALL, "0", NO_CHOICE])
def test_no_answer_to_a_form_speaks_like_a_library(acme, value):
    browser = browser_of(make_member(acme, email="dana@acme.example", role=Role.OWNER))
    asked = {}

    for (action, _), form in forms_of(browser, things_of(acme)).items():
        if names := fillable(form):
            answer = browser.post(action, form.values | dict.fromkeys(names, value))
            if answer.status_code in {200, 422}:
                asked[action] = of_libraries(answer.content.decode())

    assert len(asked) > 10
    assert {action: found for action, found in asked.items() if found} == {}


def test_a_wrong_password_is_told_of_in_our_words(client, dana):
    answer = client.post("/accounts/login/", {"login": dana.email, "password": "wrong"})

    content = answer.content.decode()
    assert "That e-mail address and password do not match." in content
    assert of_libraries(content) == []


def test_a_login_without_anything_says_what_to_do(client):
    content = client.post("/accounts/login/", {}).content.decode()

    assert content.count("Fill in this field.") == 2


def test_a_new_password_is_asked_for_in_one_sentence(dana, dana_browser):
    dana.set_password("correct horse battery")
    dana.save()
    enter_as(dana_browser, dana)

    content = dana_browser.get("/accounts/password/change/", follow=True).content.decode()

    assert passwords.HINT in content
    assert "<li>Your password" not in content


def test_the_sentence_names_the_length_that_is_asked_for():
    found: list[Any] = settings.AUTH_PASSWORD_VALIDATORS
    rules = {rule["NAME"].rpartition(".")[2]: rule for rule in found}
    least = rules[MinimumLengthValidator.__name__]["OPTIONS"]["min_length"]

    assert re.findall(r"\d+", passwords.HINT) == [str(least)]
