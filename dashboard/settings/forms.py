"""What people choose about a tenant: its name, and the messages they get."""

from __future__ import annotations

from typing import Any

from django import forms

from tenants import notices
from tenants.models import Membership
from tenants.services.names import NAME_LENGTH_MAX


class NameForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH_MAX,
        help_text="As people and approvers see it, in every message.",
        error_messages={"required": "Give it a name."},
    )


class NoticesForm(forms.Form):
    """A tick for every message that is a choice."""

    def __init__(self, data: Any, *, membership: Membership) -> None:
        super().__init__(data)
        for notice in notices.NOTICES:
            self.fields[notice.key] = forms.BooleanField(
                label=notice.label,
                help_text=notice.meaning,
                required=False,
                initial=notices.wants(notice, role=membership.role, chosen=membership.notices),
            )
