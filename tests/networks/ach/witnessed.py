"""Lines of the audit log about what tests put into the rows of a bank themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from desk import doers
from networks.ach.models import RailVersion
from networks.instant.models import InstantVersion
from tenants import actors


def said(action: str, subject: str, by: str, at: datetime, **details: Any) -> None:
    """By a person."""
    doers.record(doers.person(actors.staff(by)), action, subject, now=at, **details)


def agreed(version: RailVersion | InstantVersion) -> None:
    """To the terms that are in force."""
    rail, number = version.rail_id, version.number
    assert version.decided_at
    if version.by_command:
        operator = doers.operator(version.decided_by)
        doers.record(operator, "rail.changed", rail, now=version.decided_at, number=number)
        return
    said("rail.proposed", rail, version.proposed_by, version.proposed_at, number=number)
    said("rail.approved", rail, version.decided_by, version.decided_at, number=number)
