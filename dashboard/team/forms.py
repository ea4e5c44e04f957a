"""What people type about the team: invitations, roles, their own name and password."""

from __future__ import annotations

from django import forms
from django.contrib.auth.password_validation import validate_password

from common.forms import TextField
from tenants import passwords
from tenants.models import Role, User
from tenants.services.names import NAME_LENGTH_MAX

ROLE_MEANINGS = {
    Role.OWNER: "Can do everything, including the team, keys and settings.",
    Role.MEMBER: "Can add money, pay and manage bank accounts.",
    Role.APPROVER: "Can approve, and can see everything.",
    Role.VIEWER: "Can see everything and change nothing.",
}


class InviteForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
        error_messages={
            "required": "Enter the e-mail address to invite.",
            "invalid": "Check the address.",
        },
    )
    role = forms.ChoiceField(
        label="Role",
        choices=Role.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a role."},
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(label="Role", choices=Role.choices, widget=forms.RadioSelect)


class JoinForm(forms.Form):
    """The account of an invited person; the address is the invited one."""

    name = TextField(
        label="Your name",
        max_length=NAME_LENGTH_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=passwords.HINT,
        error_messages={"required": "Choose a password."},
    )

    def __init__(self, *args: object, email: str, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        self.email = email

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        person = User(email=self.email, name=self.cleaned_data.get("name", ""))
        validate_password(password, user=person)
        return password
