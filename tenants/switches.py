"""Operator switches: rows by which staff stop a part of the product, and let it go on.

A switch does not stop what has begun. What it stops stays due: workers leave it in their queues
(`submittable`; for webhooks `webhooks.dispatcher.claims`), and people and programs are answered 503
(`read_only`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import ClassVar, TypeVar

import pgtrigger
from django.db import models
from django.db.models import Exists, F, Q, QuerySet
from django.db.models.expressions import Combinable

from common.database.append_only import NEVER_TRUNCATED
from common.engine.compiled_rows import Rows
from common.fields import PrefixedIdField

REASON_LENGTH_MAX = 200


class SwitchKind(models.TextChoices):
    """What a switch stops."""

    FUNDING = "funding", "Funding is not sent to networks"
    PAYMENTS = "payments", "Payments are not sent to networks"
    WEBHOOKS = "webhooks", "Webhooks are not sent"
    READ_ONLY = "read_only", "Read-only: nothing can be changed by API or dashboard"


PER_NETWORK = (SwitchKind.FUNDING, SwitchKind.PAYMENTS)


@pgtrigger.register(NEVER_TRUNCATED)
class Switch(models.Model):
    """One stop, from when it was engaged to its release. The rows are also the history.

    It covers everything, or one network, or one tenant.
    """

    wall_is_shared: ClassVar = True  # one without a tenant stops all

    id = PrefixedIdField("swt")
    kind = models.CharField(max_length=9, choices=SwitchKind)
    network = models.CharField(max_length=16, blank=True)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reason = models.CharField(max_length=REASON_LENGTH_MAX)
    engaged_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    engaged_at = models.DateTimeField()
    release_reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)
    released_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "switches"
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=SwitchKind.values), name="switch_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(network="") | Q(kind__in=PER_NETWORK, tenant=None),
                name="switch_covers_one_thing",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="switch_has_a_reason"),
            models.CheckConstraint(
                condition=Q(released_at=None, release_reason="")
                | (Q(released_at__isnull=False) & ~Q(release_reason="")),
                name="switch_release_has_a_reason",
            ),
            models.UniqueConstraint(
                fields=("kind", "network", "tenant"),
                condition=Q(released_at=None),
                nulls_distinct=False,
                name="one_switch_per_part",
            ),
        )
        indexes = (models.Index(fields=("-engaged_at",), name="switch_by_time"),)
        triggers = (
            pgtrigger.Protect(name="switch_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="switch_never_changes",
                fields=("kind", "network", "tenant", "reason", "engaged_by", "engaged_at"),
            ),
            pgtrigger.Protect(
                name="switch_released_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.released_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.covers})"

    @property
    def covers(self) -> str:
        """What it stops, in a word or two."""
        if self.network:
            return f"network {self.network}"
        return str(self.tenant) if self.tenant else "everything"


_lists_of_networks: list[Callable[[], Iterable[str]]] = []


def know_networks(names: Callable[[], Iterable[str]]) -> None:
    """Register who names the networks; the module that has them sits above this one. It is asked
    each time: a network connects when its own app is ready, before or after this is called."""
    _lists_of_networks.append(names)


def known_networks() -> list[str]:
    return sorted({name for names in _lists_of_networks for name in names()})


Row = TypeVar("Row", bound=models.Model)


def engaged(kind: SwitchKind) -> QuerySet[Switch]:
    """The switches that are engaged now."""
    return Switch.objects.filter(kind=kind, released_at=None)


def covering(kind: SwitchKind, *, tenant_id: str | Combinable) -> QuerySet[Switch]:
    """The engaged switches that cover this tenant."""
    return engaged(kind).filter(Q(tenant=None) | Q(tenant=tenant_id), network="")


def stop_of(kind: SwitchKind, *, tenant_id: str, network: str) -> Switch | None:
    """The switch that keeps this tenant's money from `network`, the widest if there are several;
    None if there is none."""
    return stops_of(tenant_id=tenant_id, networks=[network]).get(kind)


def stops_of(*, tenant_id: str, networks: Iterable[str]) -> dict[SwitchKind, Switch]:
    """Those that keep this tenant's money from these networks, in and out. One query."""
    widest_last = _stops_of(tuple(networks)).read(tenant_id=tenant_id)
    return {SwitchKind(row.kind): row for row in widest_last}


@cache
def _stops_of(networks: tuple[str, ...]) -> Rows[Switch]:
    def build(tenant_id: str) -> QuerySet[Switch]:
        mine = Q(tenant=None, network__in=("", *networks)) | Q(tenant=tenant_id)
        rows = Switch.objects.filter(mine, kind__in=PER_NETWORK, released_at=None)
        return rows.order_by(F("tenant").desc(nulls_last=True), "-network")

    return Rows(build, tenant_id=models.CharField())


def stop_of_webhooks(*, tenant_id: str) -> Switch | None:
    """The switch that keeps this tenant's webhooks back, the widest if there are two."""
    rows = covering(SwitchKind.WEBHOOKS, tenant_id=tenant_id)
    return rows.order_by(F("tenant").asc(nulls_first=True)).first()


def stopped_networks(kind: SwitchKind) -> set[str]:
    """The networks that a switch stops for everybody, by name."""
    return set(engaged(kind).exclude(network="").values_list("network", flat=True))


def submittable(
    rows: QuerySet[Row], *, kind: SwitchKind, tenant: str = "tenant_id"
) -> QuerySet[Row]:
    """Those of `rows` that no switch keeps from their network; part of a claim's own statement.

    Rows have a `network`; `tenant` is the lookup of their tenant's id.
    """
    switches = engaged(kind)
    networks = switches.exclude(network="").values("network")
    tenants = switches.filter(tenant__isnull=False).values("tenant_id")
    covers_all = switches.filter(network="", tenant=None)
    is_stopped = Q(network__in=networks) | Q(**{f"{tenant}__in": tenants})
    return rows.filter(~Exists(covers_all), ~is_stopped)


def read_only(tenant: Combinable) -> Exists:
    """Whether nothing may be changed for this tenant; a column for queries that run anyway."""
    return Exists(covering(SwitchKind.READ_ONLY, tenant_id=tenant))
