"""What operators have stopped, as a tenant's people are told: what, for whom, since when.

Why is written by staff for each other, and stays with them (decision 0035).
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shell.badges import Badge
from dashboard.templatetags.ballast import moment
from networks import registry
from tenants import switches
from tenants.models import Tenant
from tenants.switches import Switch, SwitchKind

BADGE = Badge("Sending stopped", "warn")
_WHAT = {
    SwitchKind.FUNDING: "sending funding to banks",
    SwitchKind.PAYMENTS: "sending payments to banks",
    SwitchKind.WEBHOOKS: "sending webhooks",
}


@dataclass(frozen=True)
class Stops:
    """Sentences about what is not sent now; empty where it is."""

    funding: str = ""
    payments: str = ""


def of(tenant: Tenant) -> Stops:
    """The stops of this tenant in words. One query."""
    networks = [network.name for network in registry.of_mode(tenant.mode)]
    found = switches.stops_of(tenant_id=tenant.pk, networks=networks)
    return Stops(
        funding=_sentence(found.get(SwitchKind.FUNDING)),
        payments=_sentence(found.get(SwitchKind.PAYMENTS)),
    )


def of_webhooks(tenant_id: str) -> str:
    """The sentence about stopped webhooks of this tenant. One query."""
    return _sentence(switches.stop_of_webhooks(tenant_id=tenant_id))


def _sentence(switch: Switch | None) -> str:
    if switch is None:
        return ""
    return (
        f"We stopped {_WHAT[SwitchKind(switch.kind)]}{_for_whom(switch)} on"
        f" {moment(switch.engaged_at)}. Nothing is lost. What is waiting is sent when we resume."
    )


def _for_whom(switch: Switch) -> str:
    if switch.network:
        return f" over the network {switch.network}"
    return " for your organization" if switch.tenant_id else " for everybody"
