"""Moments as messages have them: Eastern time, with an offset (FedNow) or without one (RTP)."""

from __future__ import annotations

from datetime import UTC, datetime

from networks.instant.iso.profiles import EASTERN, Profile


def text_of(moment: datetime, profile: Profile) -> str:
    """The moment in whole seconds. Raises ValueError for one that has no time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    local = moment.astimezone(EASTERN).replace(microsecond=0)
    return (local if profile.has_offset else local.replace(tzinfo=None)).isoformat()


def moment_of(text: str, profile: Profile) -> datetime:
    """The moment in UTC. Raises ValueError for what is none, and for an offset that is missing or
    that may not be there.

    Without an offset, the hour that comes twice when summer time ends is read as the first of the
    two, and the hour that is left out in spring is refused.
    """
    moment = datetime.fromisoformat(text)
    if len(text) < len("2026-11-29T00:00:00") or (moment.tzinfo is not None) != profile.has_offset:
        raise ValueError("the moment has not the profile's form")
    if moment.tzinfo is None:
        return _of_wall_clock(moment)
    return moment.astimezone(UTC)


def _of_wall_clock(local: datetime) -> datetime:
    moment = local.replace(tzinfo=EASTERN).astimezone(UTC)
    if moment.astimezone(EASTERN).replace(tzinfo=None) != local:
        raise ValueError("the clocks went forward over this moment")
    return moment
