"""What people type about webhooks, and how they narrow the lists of deliveries and events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from common.forms import TextField
from dashboard.developers.webhooks.lines import DELIVERY_LABELS, event_choices
from dashboard.shell.filter_forms import FilterForm, either
from dashboard.shell.form_tokens import OnceForm, SecretForm
from webhooks import events, signing
from webhooks.models import DESCRIPTION_LENGTH_MAX, URL_LENGTH_MAX, WebhookEndpoint

# What the refusals of the services call our fields.
FIELDS = {"events": "scope", "overlapSeconds": "overlap", "from": "start", "to": "end"}

_EVERY, _SOME = "every", "some"
_MINUTE = "%Y-%m-%dT%H:%M"
_OVERLAPS = (
    (0, "No time: only the new secret signs"),
    (3600, "1 hour"),
    (24 * 3600, "1 day"),
    (3 * 24 * 3600, "3 days"),
    (7 * 24 * 3600, "7 days"),
)


@dataclass(frozen=True)
class EventChoice:
    """An event and when it happens."""

    name: str
    meaning: str

    def __str__(self) -> str:
        return self.name


def _group(names: tuple[str, ...]) -> list[tuple[str, EventChoice]]:
    return [(name, EventChoice(name, events.MEANINGS.get(name, ""))) for name in names]


class EndpointForm(OnceForm):
    """Where events go, and which ones."""

    purpose = "webhook.register"
    seconds = 60 * 60  # a repeat shows the secret again

    url = forms.CharField(
        label="URL",
        max_length=URL_LENGTH_MAX,
        widget=forms.TextInput(
            attrs={"type": "url", "spellcheck": "false", "placeholder": "https://"}
        ),
        help_text=(
            "A public https address, on port 443 or 1024 and above, without user name, password "
            "or #fragment. It must answer 2xx within 15 seconds; redirects count as failures."
        ),
        error_messages={"required": "Enter the address that receives events."},
    )
    description = TextField(
        label="Description (optional)",
        max_length=DESCRIPTION_LENGTH_MAX,
        required=False,
        help_text="For your team, such as “order system”.",
    )
    scope = forms.ChoiceField(
        label="Events",
        choices=[(_EVERY, "Every payment event"), (_SOME, "Only these")],
        widget=forms.RadioSelect,
        initial=_EVERY,
    )
    payments = forms.MultipleChoiceField(
        label="Payments",
        choices=_group(events.PAYMENT_EVENTS),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    notices = forms.MultipleChoiceField(
        label="Account",
        choices=_group(events.NOTICES),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def clean(self) -> dict[str, Any] | None:
        values = super().clean()
        if self.cleaned_data.get("scope") == _SOME and not self.chosen:
            self.add_error("scope", ValidationError("Choose at least one event."))
        return values

    @property
    def pickers(self) -> list[forms.BoundField]:
        """The two lists of events."""
        return [self["payments"], self["notices"]]

    @property
    def chosen(self) -> list[str]:
        """The events as the service takes them."""
        if self.cleaned_data.get("scope") == _EVERY:
            return [events.EVERY_PAYMENT]
        return [*self.cleaned_data.get("payments", ()), *self.cleaned_data.get("notices", ())]


class EditEndpointForm(EndpointForm):
    """Changes an endpoint that exists: its token registers nothing and shows no secret."""

    purpose = "webhook.edit"


def values_of(row: WebhookEndpoint) -> dict[str, Any]:
    """An endpoint as the form shows it before any change."""
    return {
        "url": row.url,
        "description": row.description,
        "scope": _EVERY if row.events == [events.EVERY_PAYMENT] else _SOME,
        "payments": row.events,
        "notices": row.events,
    }


class RotateSecretForm(SecretForm):
    """How long the old secret signs as well."""

    purpose = "webhook.secret"

    overlap = forms.TypedChoiceField(
        label="The old secret also signs for",
        choices=_OVERLAPS,
        coerce=lambda text: timedelta(seconds=int(text)),
        initial=24 * 3600,
        help_text="Give your receiver the new secret before then. Until then it can check either.",
    )

    def __init__(self, *args: Any, tenant_id: str, **kwargs: Any) -> None:
        super().__init__(*args, tenant_id=tenant_id, secret=signing.new_secret(), **kwargs)


class ReplayForm(OnceForm):
    """Which past events to send again."""

    purpose = "webhook.replay"

    start = forms.DateTimeField(
        label="From (UTC)",
        input_formats=[_MINUTE],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_MINUTE),
        help_text="At most 30 days ago.",
        error_messages={"invalid": "Enter a time such as 2026-11-20T15:00."},
    )
    end = forms.DateTimeField(
        label="To (UTC)",
        input_formats=[_MINUTE],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_MINUTE),
        error_messages={"invalid": "Enter a time such as 2026-11-20T15:00."},
    )
    which = forms.ChoiceField(
        label="Which events",
        choices=[
            ("missing", "Events that never arrived: failed, or skipped while the endpoint was off"),
            (
                "all",
                "All events, also those that arrived and those from before the endpoint existed",
            ),
        ],
        widget=forms.RadioSelect,
        initial="missing",
    )

    @property
    def window(self) -> dict[str, Any]:
        """The chosen times and events as arguments of the replay service."""
        data = self.cleaned_data
        return {
            "start": data["start"],
            "end": data["end"],
            "only_failed": data["which"] == "missing",
        }


def last_day(now: datetime) -> dict[str, datetime]:
    """The window that the form shows first: up to the next full minute."""
    end = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return {"start": end - timedelta(days=1), "end": end}


class DeliveryFilter(FilterForm):
    status = either("Status", DELIVERY_LABELS, "Any status")
    type = either("Event", list(event_choices()), "Any event")

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        names = {"status": "status", "type": "event__type"}
        return rows.filter(**{names[name]: value for name, value in chosen.items()})


class EventFilter(FilterForm):
    type = either("Event", list(event_choices()), "Any event")
    payment = forms.CharField(
        label="Payment",
        required=False,
        max_length=32,
        widget=forms.TextInput(attrs={"placeholder": "ftx_… or pay_…", "spellcheck": "false"}),
    )

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        names = {"type": "type", "payment": "payment_id"}
        return rows.filter(**{names[name]: value for name, value in chosen.items()})
