"""What people type to get an API key, or to rotate one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms

from common.forms import TextField
from dashboard.shell import refusals
from dashboard.shell.form_tokens import SecretForm
from tenants import key_text, scopes
from tenants.models import Mode, Tenant
from tenants.services import keys
from tenants.services.keys import ALLOWED_NETWORKS_MAX
from tenants.services.names import NAME_LENGTH_MAX

# What the refusals of the service call our fields.
FIELDS = {"expiresAt": "expires_on", "allowedNetworks": "networks"}

_OVERLAPS = (
    (0, "No time: it stops working now"),
    (3600, "1 hour"),
    (24 * 3600, "1 day"),
    (3 * 24 * 3600, "3 days"),
    (7 * 24 * 3600, "7 days"),
)
_NETWORK_LENGTH_MAX = 43
_YEAR_MAX = 2100


@dataclass(frozen=True)
class ScopeChoice:
    """A scope and what it opens."""

    name: str
    meaning: str

    def __str__(self) -> str:
        return self.name


class KeySecretForm(SecretForm):
    """A form that ends in a new key. The key is chosen when the form is shown."""

    def __init__(self, *args: Any, tenant: Tenant, **kwargs: Any) -> None:
        secret = key_text.new(Mode(tenant.mode))
        super().__init__(*args, tenant_id=tenant.pk, secret=secret, **kwargs)


class ApiKeyForm(KeySecretForm):
    """A key that may do no more than was ticked."""

    purpose = "api_key.issue"

    name = TextField(
        label="Name",
        max_length=NAME_LENGTH_MAX,
        help_text="Where you will use it, such as “billing server”.",
        error_messages={"required": "Give the key a name."},
    )
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        choices=[(name, ScopeChoice(name, text)) for name, text in scopes.MEANINGS.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )
    forbids_loosening = forms.BooleanField(
        label="Cannot loosen auto-funding",
        required=False,
        help_text="The key then cannot change who approves, or set limits of auto-funding"
        " that protect less.",
    )
    expires_on = forms.DateField(
        label="Last day (optional)",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="The key works until the end of that day, UTC. Leave empty to keep it until you"
        " revoke it.",
        error_messages={"invalid": "Enter a date such as 2027-03-31."},
    )
    networks = forms.CharField(
        label="Only from these networks (optional)",
        required=False,
        max_length=ALLOWED_NETWORKS_MAX * (_NETWORK_LENGTH_MAX + 2),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One per line, such as 203.0.113.7 or 203.0.113.0/24. Leave empty to allow any"
        " address.",
    )

    def clean_expires_on(self) -> datetime | None:
        """The end of the last day."""
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        if day.year > _YEAR_MAX:
            raise forms.ValidationError(f"Enter a date up to the year {_YEAR_MAX}.")
        return datetime.combine(day + timedelta(days=1), time.min, UTC)

    def clean_networks(self) -> list[str]:
        networks = str(self.cleaned_data["networks"]).split()
        with refusals.of_this_field():
            keys.check_networks(networks)
        return networks


class RotateForm(KeySecretForm):
    """How long the old key works beside the new one."""

    purpose = "api_key.rotate"

    overlap = forms.TypedChoiceField(
        label="The old key keeps working for",
        choices=_OVERLAPS,
        coerce=lambda text: timedelta(seconds=int(text)),
        initial=24 * 3600,
        help_text="Give the new key to every program before then.",
    )
