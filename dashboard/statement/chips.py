"""What is chosen of the list of transactions, and what is chosen often, one link each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from balance.kinds import PostingType
from balance.movements import Direction
from dashboard.shell.filter_forms import FilterForm

LEDGER = "ledger"


@dataclass(frozen=True)
class Chip:
    """A link that chooses something, or leaves it out again where it `is_on`."""

    label: str
    href: str
    is_on: bool


def query(form: FilterForm, *, view: str) -> str:
    """What the address holds: the choice, and how the list is shown."""
    return _query(_values(form) | {"view": view})


def other_view(form: FilterForm, *, view: str) -> str:
    """The address of the same choice as ledger lines, or as movements again, which know no types
    of lines."""
    values = _values(form)
    if not view:
        return _address(values | {"view": LEDGER})
    if values["type"] not in Direction.values:
        values = values | {"type": ""}
    return _address(values)


def chips(form: FilterForm, *, view: str, today: date) -> list[Chip]:
    """The presets, and what is chosen that none of them says."""
    values = _values(form) | {"view": view}
    presets = [
        _chip(label, values, choice, is_on=all(values[name] == choice[name] for name in choice))
        for label, choice in _presets(today)
    ]
    said = {
        name
        for chip, (_, choice) in zip(presets, _presets(today), strict=True)
        if chip.is_on
        for name in choice
    }
    others = _others(form) if form.is_valid() else ()
    return presets + [
        _chip(label, values, {name: ""}, is_on=True) for name, label in others if name not in said
    ]


def _presets(today: date) -> list[tuple[str, dict[str, str]]]:
    """Days as dates, so that a link shows the same lines tomorrow."""
    month, thirty = today.replace(day=1), today - timedelta(days=29)
    return [
        ("This month", {"since": month.isoformat(), "until": ""}),
        ("Last 30 days", {"since": thirty.isoformat(), "until": ""}),
        *((label, {"type": value}) for value, label in Direction.choices),
    ]


def _others(form: FilterForm) -> Iterator[tuple[str, str]]:
    chosen = form.cleaned_data
    if chosen["search"]:
        yield "search", chosen["search"]
    if chosen["type"] in PostingType.values:
        yield "type", PostingType(chosen["type"]).label
    for name, word in (("since", "From"), ("until", "To")):
        if day := chosen[name]:
            yield name, f"{word} {day:%b} {day.day}, {day.year}"


def _chip(label: str, values: Mapping[str, str], choice: dict[str, str], *, is_on: bool) -> Chip:
    changed = dict.fromkeys(choice, "") if is_on else choice
    return Chip(label, _address({**values, **changed}), is_on)


def _values(form: FilterForm) -> dict[str, str]:
    return {name: form.data.get(name, "") for name in form.fields}


def _query(values: Mapping[str, str]) -> str:
    return urlencode([(name, value) for name, value in values.items() if value])


def _address(values: Mapping[str, str]) -> str:
    path, query = reverse("dashboard:transactions"), _query(values)
    return f"{path}?{query}" if query else path
