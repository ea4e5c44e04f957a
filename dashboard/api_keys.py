"""API keys as people see them, and what they type to get one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django import forms

from dashboard.context import Badge
from tenants import scopes
from tenants.models import ApiKey
from tenants.services.names import NAME_LENGTH_MAX


class ApiKeyForm(forms.Form):
    """A key that may do no more than was ticked."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH_MAX,
        help_text="Where it will be used, such as billing server.",
        error_messages={"required": "Give the key a name."},
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        choices=[(scope, scope) for scope in scopes.ALL],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )


@dataclass(frozen=True)
class KeyLine:
    """One key; `prefix` is its readable beginning, the rest is kept nowhere."""

    id: str
    name: str
    prefix: str
    scopes: str
    badge: Badge
    is_usable: bool
    last_used_at: datetime | None
    created_at: datetime


def key_line(row: ApiKey, *, now: datetime) -> KeyLine:
    badge = _badge(row, now)
    return KeyLine(
        id=row.pk,
        name=row.name,
        prefix=row.prefix,
        scopes="Everything" if set(row.scopes) == set(scopes.ALL) else ", ".join(row.scopes),
        badge=badge,
        is_usable=badge.tone == "good",
        last_used_at=row.last_used_at,
        created_at=row.created_at,
    )


def _badge(row: ApiKey, now: datetime) -> Badge:
    if row.revoked_at is not None:
        return Badge("Revoked")
    if row.expires_at is not None and row.expires_at <= now:
        return Badge("Expired")
    return Badge("Active", "good")
