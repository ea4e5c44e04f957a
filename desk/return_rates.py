"""Return rates beside the levels that Nacha watches."""

from __future__ import annotations

from dataclasses import dataclass

from funding.figures import DebitReturns

# Percent of the debits of 60 days (Nacha Operating Rules, return rate levels).
UNAUTHORIZED_LEVEL = 0.5
ADMINISTRATIVE_LEVEL = 3.0
OVERALL_LEVEL = 15.0
_NEAR = 0.7


@dataclass(frozen=True)
class Meter:
    """One rate in percent beside its level."""

    label: str
    returns: int
    debits: int
    level: float

    @property
    def rate(self) -> float:
        return 100 * self.returns / self.debits if self.debits else 0.0

    @property
    def share(self) -> float:
        """How much of the level is used; 1 is at the level."""
        return self.rate / self.level

    @property
    def bar_units(self) -> float:
        """Length of a bar that reaches its level at 100 and is cut at 150."""
        return round(min(self.share * 100, 150), 2)

    @property
    def tone(self) -> str:
        if self.share >= 1:
            return "bad"
        return "warn" if self.share >= _NEAR else "good"

    @property
    def verdict(self) -> str:
        return {"bad": "Over the level", "warn": "Near the level", "good": "Below the level"}[
            self.tone
        ]


@dataclass(frozen=True)
class TenantMeters:
    """One tenant's three rates; the worst of them says how bad it is."""

    tenant_id: str
    tenant_name: str
    meters: tuple[Meter, ...]

    @property
    def worst(self) -> Meter:
        return max(self.meters, key=lambda meter: meter.share)


def meters(counted: DebitReturns) -> tuple[Meter, ...]:
    """The three rates of `counted`."""
    return (
        Meter("Unauthorized", counted.unauthorized, counted.debits, UNAUTHORIZED_LEVEL),
        Meter("Administrative", counted.administrative, counted.debits, ADMINISTRATIVE_LEVEL),
        Meter("Overall", counted.returned, counted.debits, OVERALL_LEVEL),
    )


def tenant_meters(counted: DebitReturns) -> TenantMeters:
    return TenantMeters(counted.tenant_id, counted.tenant_name, meters(counted))
