"""What people choose about a tenant: its name, and the messages they get."""

from __future__ import annotations

from typing import Any

from django import forms

from common.forms import TextField
from funding.models import AFTER_DAYS_MAX
from tenants import notices
from tenants.models import Membership
from tenants.services.names import NAME_LENGTH_MAX


class NameForm(forms.Form):
    name = TextField(
        label="Name",
        max_length=NAME_LENGTH_MAX,
        help_text="People and approvers see this name in every message.",
        error_messages={"required": "Enter a name."},
    )


class RetriesForm(forms.Form):
    """How often a top-up that came back is tried again, and when."""

    times = forms.TypedChoiceField(
        label="Retry automatically",
        coerce=int,
        choices=((0, "Never"), (1, "Once"), (2, "Twice")),
    )
    after_days = forms.IntegerField(
        label="Banking days to wait after each return",
        min_value=1,
        max_value=AFTER_DAYS_MAX,
        help_text=f"1 to {AFTER_DAYS_MAX}. We retry on the morning of that day.",
        error_messages={"required": "Enter a number of days."},
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
