"""Taking a network's list of participants in, with its line in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from desk import doers
from desk.doers import Doer
from networks.instant import participants
from networks.instant.models import ParticipantList


@transaction.atomic
def take(
    profile: str, content: bytes, *, reason: str, is_forced: bool, doer: Doer, now: datetime
) -> ParticipantList:
    """Raises ListRefused."""
    made = participants.take(
        profile,
        participants.read(profile, content),
        reason=reason,
        by=doer.name,
        now=now,
        is_forced=is_forced,
    )
    doers.record(
        doer,
        "participants.imported",
        made.pk,
        now=now,
        note=made.reason,
        profile=profile,
        banks=made.banks,
        digest=made.digest,
        forced=is_forced,
    )
    return made


def try_out(profile: str, content: bytes, *, is_forced: bool) -> int:
    """How many banks the list names, if it would be taken. Raises ListRefused."""
    banks = participants.read(profile, content)
    participants.require_alike(participants.current(profile), banks, is_forced=is_forced)
    return len(banks)
