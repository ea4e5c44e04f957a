"""Rails and routes. A rail is one connection to the world; a route says which rail carries a method
for the tenants of a mode (decision 0127)."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField

NAME_LENGTH_MAX = 16
# Modes of tenants, whom networks do not know.
SANDBOX, LIVE = "sandbox", "live"
MODES = (SANDBOX, LIVE)


class RailKind(models.TextChoices):
    """Whether money moves."""

    REAL = "real"
    STAND_IN = "stand_in", "Stand-in"


class Rail(models.Model):
    """A network as rows of other tables name it. `driver` names the code that speaks to it, which
    its own app registers (`networks.registry`). It never changes: another bank is another rail."""

    name = models.CharField(max_length=NAME_LENGTH_MAX, primary_key=True, db_collation="C")
    kind = models.CharField(max_length=8, choices=RailKind)
    driver = models.CharField(max_length=16)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=RailKind.values), name="rail_kind_known"),
            models.CheckConstraint(
                condition=Q(name__regex="^[a-z][a-z0-9_]*$"), name="rail_name_is_a_word"
            ),
            # What routes refer to.
            models.UniqueConstraint(fields=("name", "kind"), name="rail_of_kind"),
        )
        triggers = (NEVER_TRUNCATED, APPEND_ONLY)

    def __str__(self) -> str:
        return f"{self.name} ({self.get_kind_display().lower()})"


class Route(models.Model):
    """The rail that carries `method` for tenants of `mode`: it leads there while it `is_open`.

    `rail_kind` is the rail's, which a foreign key proves, so that a constraint can say which money
    goes where. A `development` route lets live tenants use a stand-in; it leads nowhere unless the
    setting DEVELOPMENT_ROUTES is on.
    """

    id = PrefixedIdField("rte")
    mode = models.CharField(max_length=8)
    method = models.CharField(max_length=32)
    # With `rail_kind` it refers to a rail of that kind (migration 0001).
    rail = models.ForeignKey(
        Rail, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    rail_kind = models.CharField(max_length=8, choices=RailKind)
    development = models.BooleanField(default=False)
    is_open = models.BooleanField(default=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(mode__in=MODES), name="route_mode_known"),
            models.CheckConstraint(condition=~Q(method=""), name="route_has_a_method"),
            models.CheckConstraint(
                condition=~Q(mode=LIVE) | Q(rail_kind=RailKind.REAL) | Q(development=True),
                name="route_of_live_is_real",
            ),
            models.CheckConstraint(
                condition=~Q(mode=SANDBOX) | Q(rail_kind=RailKind.STAND_IN),
                name="route_of_sandbox_moves_no_money",
            ),
            models.UniqueConstraint(fields=("mode", "method"), name="one_route_per_method"),
        )
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="route_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="route_stays_its_methods", fields=("id", "mode", "method")),
        )

    def __str__(self) -> str:
        leads = f"leads to {self.rail_id}" if self.is_open else "is closed"
        return f"{self.method} of {self.mode} tenants {leads}"
