"""What Django's form fields and validators say where a form has no words of its own.

Django's own are written for programmers ("Ensure this value has at most 24 characters (it has
30)."). They are replaced in one place, because people see forms of libraries as well: those of
django-allauth and of the admin. The API's serializers have words of their own and keep them.
"""

from __future__ import annotations

from types import MappingProxyType

from django import forms
from django.core import validators

_OF_FIELDS = MappingProxyType[type[forms.Field], dict[str, str]](
    {
        forms.Field: {"required": "Fill in this field."},
        forms.IntegerField: {"invalid": "Enter a whole number."},
        forms.ChoiceField: {"invalid_choice": "“%(value)s” is not one of the choices."},
        forms.MultipleChoiceField: {
            "invalid_choice": "“%(value)s” is not one of the choices.",
            "invalid_list": "Choose from the list.",
        },
        forms.ModelChoiceField: {"invalid_choice": "Choose one from the list."},
        forms.ModelMultipleChoiceField: {
            "invalid_choice": "“%(value)s” is not one of the choices.",
            "invalid_list": "Choose from the list.",
            "invalid_pk_value": "“%(pk)s” is not one of the choices.",
        },
    }
)
_OF_VALIDATORS = MappingProxyType[type[validators.BaseValidator], str](
    {
        validators.MinValueValidator: "Enter %(limit_value)s or more.",
        validators.MaxValueValidator: "Enter %(limit_value)s or less.",
        validators.StepValueValidator: "Enter a multiple of %(limit_value)s.",
        validators.MinLengthValidator: (
            "Use at least %(limit_value)s characters. You entered %(show_value)s."
        ),
        validators.MaxLengthValidator: (
            "Use at most %(limit_value)s characters. You entered %(show_value)s."
        ),
    }
)


def use() -> None:
    """Replace the texts, before forms are defined: a field copies them when it is made."""
    for field, texts in _OF_FIELDS.items():
        field.default_error_messages = {**field.default_error_messages, **texts}
    for validator, text in _OF_VALIDATORS.items():
        validator.message = text
    validators.EmailValidator.message = "Enter a valid e-mail address."
    validators.ProhibitNullCharactersValidator.message = (
        "Remove the characters that cannot be seen."
    )
