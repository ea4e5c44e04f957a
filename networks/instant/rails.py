"""The terms that an instant rail has now."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from networks.instant.iso.profiles import PROFILES, Profile
from networks.instant.models import InstantRail, InstantVersion
from networks.instant.states import VersionStatus
from networks.instant.terms import RailTerms


class NoTerms(LookupError):
    """No version of the rail is in force, or there is no such rail."""


@dataclass(frozen=True, kw_only=True)
class RailInForce:
    """A rail with the version that is in force."""

    name: str
    profile: Profile
    version: InstantVersion

    @property
    def terms(self) -> RailTerms:
        return self.version.parsed

    @property
    def account(self) -> str:
        """The number of our own account there. Raises common.crypto.Undecryptable."""
        return self.version.account


def current(rail: str) -> RailInForce:
    """Raises NoTerms, InvalidTerms."""
    rows = InstantVersion.objects.filter(rail_id=rail, status=VersionStatus.CURRENT)
    found = rows.select_related("rail").first()
    if found is None:
        raise NoTerms(rail)
    found.parsed  # noqa: B018  # raises here, and not where it is used
    return RailInForce(name=rail, profile=PROFILES[found.rail.profile], version=found)


def names() -> list[str]:
    """All rails that have terms."""
    have_terms = InstantVersion.objects.filter(status=VersionStatus.CURRENT)
    rails: QuerySet[InstantRail] = InstantRail.objects.filter(pk__in=have_terms.values("rail_id"))
    return list(rails.order_by("pk").values_list("pk", flat=True))
