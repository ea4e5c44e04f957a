"""Lines of the audit log, and what narrows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from common import clock
from dashboard.audit_log.sentences import AREAS, sentence
from dashboard.shell import timeline
from dashboard.shell.filter_forms import DaysFilter, between, either
from tenants import selectors
from tenants.models import ActorType, AuditEvent

CSV_HEADER = (
    "id",
    "at",
    "actor_type",
    "actor",
    "action",
    "subject",
    "details",
    "address",
    "request_id",
)
_PAGES = {"dau": "authorization", "ftx": "funding_detail", "pay": "payment_detail"}
_KNOWN_IN_API = {"adj", "fs", "rcp", "wh"}


@dataclass(frozen=True)
class Subject:
    """The id of what an event is about, and the page of it if there is one."""

    id: str
    view: str


@dataclass(frozen=True)
class AuditLine:
    id: str
    who: str
    what: str
    address: str
    at: datetime
    subject: Subject


class AuditFilter(DaysFilter):
    area = either("About", [(key, label) for key, (label, _) in AREAS.items()], "Everything")
    who = forms.CharField(
        label="Who",
        required=False,
        max_length=254,
        widget=forms.TextInput(attrs={"placeholder": "E-mail or API key", "spellcheck": "false"}),
    )

    subject = forms.CharField(
        label="About the ID",
        required=False,
        max_length=64,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "placeholder": "pay_ or ftx_…", "spellcheck": "false"}
        ),
    )

    field_order = ("area", "who", "subject", "since", "until")

    def __init__(self, data: Any, *, tenant_id: str) -> None:
        super().__init__(data)
        self.tenant_id = tenant_id

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        if area := chosen.get("area"):
            rows = rows.filter(_any(Q(action__startswith=start) for start in AREAS[area][1]))
        if who := chosen.get("who"):
            ids = selectors.actor_ids(tenant_id=self.tenant_id, text=who)
            rows = rows.filter(actor_id__in=ids).exclude(actor_type=ActorType.STAFF)
        if subject := chosen.get("subject"):
            rows = rows.filter(subject_id=subject)
        return between(rows, chosen.get("since"), chosen.get("until"))


def lines(rows: Iterable[AuditEvent]) -> list[AuditLine]:
    """The lines of `rows`. Two more queries find the names of people and keys."""
    found = list(rows)
    names = _names(found)
    return [audit_line(row, names) for row in found]


def audit_line(row: AuditEvent, names: Mapping[str, str]) -> AuditLine:
    """The line of `row`; `names` are those of people and keys, by their ids."""
    return AuditLine(
        id=row.pk,
        who=timeline.who(row.actor_type, row.actor_id, names),
        what=sentence(row.action, row.details, names.get(row.subject_id, row.subject_id)),
        address=row.address,
        at=row.created_at,
        subject=_subject(row.subject_id),
    )


def _subject(id: str) -> Subject:
    """Only what has a page or occurs in the API is worth an id beside its name."""
    prefix = id.partition("_")[0]
    if prefix in _PAGES:
        return Subject(id, f"dashboard:{_PAGES[prefix]}")
    return Subject(id if prefix in _KNOWN_IN_API else "", "")


def csv_rows(rows: Iterable[AuditEvent]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        yield (
            row.pk,
            clock.text_of(row.created_at),
            row.actor_type,
            row.actor_id,
            row.action,
            row.subject_id,
            json.dumps(row.details, sort_keys=True),
            row.address,
            row.request_id,
        )


def _names(rows: list[AuditEvent]) -> dict[str, str]:
    ids = {row.actor_id for row in rows} | {row.subject_id for row in rows}
    return selectors.people_and_keys(ids)


def _any(conditions: Iterable[Q]) -> Q:
    found = Q()
    for condition in conditions:
        found |= condition
    return found
