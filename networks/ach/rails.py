"""The terms that a rail has now, and what is stopped on it."""

from __future__ import annotations

from django.db.models import QuerySet

from networks.ach.models import AchRail, RailSwitch, RailVersion
from networks.ach.models.rails import RailPart
from networks.ach.states import VersionStatus


class NoTerms(LookupError):
    """No version of the rail is in force, or there is no such rail."""


def current(rail: str) -> RailVersion:
    """The version in force. Raises NoTerms, InvalidTerms."""
    found = RailVersion.objects.filter(rail_id=rail, status=VersionStatus.CURRENT).first()
    if found is None:
        raise NoTerms(rail)
    found.parsed  # noqa: B018  # raises here, and not where it is used
    return found


def names() -> list[str]:
    """All rails that have terms."""
    have_terms = RailVersion.objects.filter(status=VersionStatus.CURRENT)
    rails: QuerySet[AchRail] = AchRail.objects.filter(pk__in=have_terms.values("rail_id"))
    return list(rails.order_by("pk").values_list("pk", flat=True))


def is_stopped(rail: str, part: RailPart) -> bool:
    """Whether a switch stops this part of the rail."""
    return RailSwitch.objects.filter(rail_id=rail, part=part, released_at=None).exists()
