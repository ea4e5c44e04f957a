"""What gives access: roles in a tenant, another address of a person, roles of staff. One member of
staff proposes it, another one approves it between its delay and its end (decisions 0168, 0171)."""

from __future__ import annotations

from datetime import timedelta

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField

REASON_LENGTH_MAX = 300
WRONG_KIND = (
    "A role in a tenant takes a tenant and a role; another address takes the new address; roles of"
    " staff take one or more of them; and none takes more."
)


class AccessKind(models.TextChoices):
    MEMBER = "member", "A role in a tenant"
    ADDRESS = "address", "Another address of a person"
    POWER = "power", "Roles of staff"


# What a process of the release before this column makes during an upgrade ends then.
_ENDS_BY_DEFAULT = Now() + timedelta(days=8)
_TENANT_ROLES = ("owner", "member", "approver", "viewer")


class AccessDecision(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@pgtrigger.register(NEVER_TRUNCATED)
class AccessProposal(models.Model):
    """`email` is whom it is about. `tenant` and `role` belong to a member, `new_email` to an
    address, `groups` to staff."""

    id = PrefixedIdField("acp")
    kind = models.CharField(max_length=7, choices=AccessKind)
    email = models.EmailField("whose address")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    role = models.CharField(max_length=8, blank=True)
    new_email = models.EmailField("new address", blank=True)
    groups = ArrayField(models.CharField(max_length=150), default=list, blank=True)
    reason = models.CharField(max_length=REASON_LENGTH_MAX)
    is_emergency = models.BooleanField("emergency", default=False)
    proposed_by = models.ForeignKey("tenants.User", on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    waits_until = models.DateTimeField()
    ends_at = models.DateTimeField(db_default=_ENDS_BY_DEFAULT)
    decision = models.CharField(max_length=8, choices=AccessDecision, default=AccessDecision.OPEN)
    decided_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_note = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)

    class Meta:
        verbose_name = "proposal of access"
        verbose_name_plural = "proposals of access"
        permissions = (
            ("propose_access", "Can propose members, addresses and roles of staff"),
            ("approve_access", "Can approve or reject the access that others propose"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(
                    kind="member",
                    tenant__isnull=False,
                    role__in=_TENANT_ROLES,
                    new_email="",
                    groups=[],
                )
                | Q(kind="address", tenant=None, role="", groups=[]) & ~Q(new_email="")
                | Q(kind="power", tenant=None, role="", new_email="") & ~Q(groups=[]),
                name="access_is_of_its_kind",
                violation_error_message=WRONG_KIND,
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="access_has_a_reason"),
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None, decided_by=None)
                | Q(
                    decision__in=("approved", "rejected"),
                    decided_at__isnull=False,
                    decided_by__isnull=False,
                )
                | Q(decision="expired", decided_at__isnull=False, decided_by=None),
                name="access_decided_iff_dated",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")),
                name="access_decided_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(decision="approved") | Q(decided_at__gte=F("waits_until")),
                name="access_approved_after_its_delay",
            ),
            models.CheckConstraint(
                condition=Q(decision="open")
                | Q(decision="expired", decided_at__gte=F("ends_at"))
                | Q(decision__in=("approved", "rejected"), decided_at__lt=F("ends_at")),
                name="access_decided_before_its_end",
            ),
            models.UniqueConstraint(
                fields=("kind", "email", "tenant"),
                condition=Q(decision="open"),
                nulls_distinct=False,
                name="one_open_access_proposal",
            ),
        )
        indexes = (
            models.Index(fields=("proposed_at",), name="access_open", condition=Q(decision="open")),
            models.Index(
                fields=("decided_at",),
                name="access_emergency",
                condition=Q(is_emergency=True, decision="approved"),
            ),
        )
        triggers = (
            pgtrigger.Protect(name="access_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="access_terms_never_change",
                exclude=("decision", "decided_by", "decided_at", "decision_note"),
            ),
            pgtrigger.Protect(
                name="access_decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.decided_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.email}"
