"""Stops of one part of a rail. One person engages and releases them; the caller writes the audit
log."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from common.errors import StaffRefusal
from networks.ach.models import RailSwitch
from networks.ach.models.columns import REASON_LENGTH_MAX
from networks.ach.models.rails import RailPart


class SwitchRefused(StaffRefusal):
    code = "rail_switch_refused"
    title = "Nothing was stopped or released"
    advice = "Read the rail again: somebody may have done it already."


def engage(*, rail: str, part: RailPart, reason: str, by: str, now: datetime) -> RailSwitch:
    """Stop a part of a rail. Raises SwitchRefused, also if it is stopped."""
    switch = RailSwitch(
        rail_id=rail, part=part, reason=_said(reason), engaged_by=by, engaged_at=now
    )
    try:
        with transaction.atomic():
            switch.save(force_insert=True)
    except IntegrityError as error:
        raise SwitchRefused("It is stopped already.") from error
    return switch


@transaction.atomic
def release(*, switch_id: str, reason: str, by: str, now: datetime) -> RailSwitch:
    """Let a part of a rail go on. Raises SwitchRefused."""
    rows = RailSwitch.objects.select_for_update(no_key=True)
    switch = rows.filter(pk=switch_id, released_at=None).first()
    if switch is None:
        raise SwitchRefused("It is not stopped.")
    switch.released_by, switch.released_at, switch.release_reason = by, now, _said(reason)
    switch.save(update_fields=("released_by", "released_at", "release_reason"))
    return switch


def _said(reason: str) -> str:
    if not 1 <= len(text := reason.strip()) <= REASON_LENGTH_MAX:
        raise SwitchRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text
