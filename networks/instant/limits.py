"""How much goes at once over a rail: the network's limit of the day, and what we agreed."""

from __future__ import annotations

from datetime import date, datetime

from django.conf import settings

from networks.instant.iso.profiles import Profile
from networks.instant.rails import RailInForce
from networks.instant.states import ConversationKind


def amount_max(rail: RailInForce, kind: ConversationKind, *, now: datetime) -> int:
    """In cents."""
    terms = rail.terms
    ours = terms.request_max if kind == ConversationKind.REQUEST else terms.payment_max
    return min(ours, of_network(rail.profile, rail.profile.settlement_date(now)))


def of_network(profile: Profile, day: date) -> int:
    """The newest limit that began by this day: of the setting, or what the profile knows."""
    begun = [
        (since, cents)
        for since, cents in settings.INSTANT_LIMITS.get(profile.name, ())
        if since <= day
    ]
    return max(begun, default=(profile.limits_as_of, profile.amount_max))[1]
