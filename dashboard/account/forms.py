"""The forms for a person's own name, and for the address that leads to single sign-on."""

from __future__ import annotations

from django import forms

from common.forms import TextField
from tenants.services.names import NAME_LENGTH_MAX


class PersonForm(forms.Form):
    name = TextField(
        label="Your name",
        max_length=NAME_LENGTH_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text="Your teams see this name.",
        error_messages={"required": "Enter your name."},
    )


class WorkAddressForm(forms.Form):
    email = forms.EmailField(
        label="Work e-mail",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
        error_messages={"required": "Enter your e-mail address."},
    )
