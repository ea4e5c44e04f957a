"""What narrows a list: fields of a GET form, so that the address bar holds the choice."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet

from common import days


class FilterForm(forms.Form):
    """A form that narrows a list. A wrong value gets a message, and nothing is found."""

    def narrow(self, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
        """`rows` as the form says; none while the form makes no sense."""
        if not self.is_valid():
            return rows.none()
        return self.apply(rows, {name: value for name, value in self.cleaned_data.items() if value})

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        """`rows` narrowed by the fields that were filled in."""
        raise NotImplementedError

    @property
    def query(self) -> str:
        """The choice as it stands in the address, for the pager's links."""
        given = ((name, self.data.get(name, "")) for name in self.fields)
        return urlencode([(name, value) for name, value in given if value])

    @property
    def http_status(self) -> int:
        """The page's HTTP status."""
        return 200 if self.is_valid() else 422


def day(label: str) -> forms.DateField:
    """One end of a range of days, both of which are included: `From` or `To`."""
    return forms.DateField(
        label=label,
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        error_messages={"invalid": "Enter a date such as 2026-11-20."},
    )


class DaysFilter(FilterForm):
    """Between two days, Eastern, both included."""

    since = day("From")
    until = day("To")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and until < since:
            self.add_error("until", "The end date is before the start date.")
        return data


def between(rows: QuerySet[Any], since: date | None, until: date | None) -> QuerySet[Any]:
    """What was created on these Eastern days, both included."""
    if since:
        rows = rows.filter(created_at__gte=days.start_of(since))
    if until:
        rows = rows.filter(created_at__lt=days.start_of(until + timedelta(days=1)))
    return rows


def either(label: str, choices: list[tuple[str, str]], everything: str) -> forms.ChoiceField:
    """One of `choices`, or everything."""
    return forms.ChoiceField(
        label=label,
        required=False,
        choices=[("", everything), *choices],
        error_messages={"invalid_choice": "Choose one from the list."},
    )
