"""Staff stop a part of the product and let it go on, with a reason, audited."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from django.db import transaction
from django.db.models import QuerySet

from common.database import undisclosed
from common.engine import compiled
from common.engine.compiled import Statement
from tenants.actors import Actor
from tenants.errors import InvalidSwitch, ReadOnlyMode, SwitchEngaged, SwitchReleased
from tenants.models import ActorType, Switch
from tenants.services import audit
from tenants.switches import PER_NETWORK, REASON_LENGTH_MAX, SwitchKind, covering, known_networks


@transaction.atomic
def engage(
    *,
    kind: SwitchKind,
    reason: str,
    actor: Actor,
    now: datetime,
    network: str = "",
    tenant_id: str | None = None,
) -> Switch:
    """Engage a switch for everything, for one network or for one tenant. It acts on the next claim
    or request.

    Raises InvalidSwitch, SwitchEngaged.
    """
    if network and (tenant_id or kind not in PER_NETWORK):
        raise InvalidSwitch("Only submissions stop by network, and then for all its tenants.")
    if network and network not in known_networks():
        raise InvalidSwitch(f"There is no network {network}.", field="network")
    switch = Switch(
        kind=kind,
        network=network,
        tenant_id=tenant_id,
        reason=_checked(reason),
        engaged_by_id=_person(actor),
        engaged_at=now,
    )
    Switch.objects.bulk_create([switch], ignore_conflicts=True)
    if not Switch.objects.filter(pk=switch.pk).exists():
        raise SwitchEngaged("This is stopped already.")
    _audit("switch.engaged", switch, actor, switch.reason, now)
    return switch


@transaction.atomic
def release(*, switch_id: str, reason: str, actor: Actor, now: datetime) -> Switch:
    """Release a switch; the sweeps take up what waited. Raises InvalidSwitch, SwitchReleased."""
    reason = _checked(reason)
    released = Switch.objects.filter(pk=switch_id, released_at=None).update(
        released_at=now, release_reason=reason, released_by_id=_person(actor)
    )
    switch = Switch.objects.get(pk=switch_id)
    if not released:
        raise SwitchReleased("This goes on already.")
    _audit("switch.released", switch, actor, reason, now)
    return switch


def engaged_now() -> QuerySet[Switch]:
    """Every engaged switch, the latest first, with who engaged it."""
    rows = _engaged().select_related("tenant")
    return undisclosed.of(rows).order_by("-engaged_at")


def is_any_engaged() -> bool:
    """For every page: a tenth of the time that `engaged_now` takes to find none."""
    return bool(_one().rows())


@cache
def _one() -> Statement:
    return compiled.union(_engaged().values("pk")[:1])


def _engaged() -> QuerySet[Switch]:
    return Switch.objects.filter(released_at=None)


def require_writable(*, tenant_id: str) -> None:
    """Raise ReadOnlyMode while staff let nothing be changed. For callers that have not read the
    tenant's `read_only` column yet."""
    if covering(SwitchKind.READ_ONLY, tenant_id=tenant_id).exists():
        raise ReadOnlyMode("Nothing can be changed for the moment.")


def _checked(reason: str) -> str:
    if not 1 <= len(reason := reason.strip()) <= REASON_LENGTH_MAX:
        raise InvalidSwitch(
            f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.", field="reason"
        )
    return reason


def _person(actor: Actor) -> str | None:
    return actor.id if actor.type == ActorType.STAFF else None


def _audit(action: str, switch: Switch, actor: Actor, reason: str, now: datetime) -> None:
    audit.record(
        tenant_id=switch.tenant_id,
        actor=actor,
        action=action,
        subject_id=switch.pk,
        details={"kind": str(switch.kind), "network": switch.network},
        staff_note=reason,
        now=now,
    )
