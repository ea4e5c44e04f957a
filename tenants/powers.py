"""Who works for us in which role, since when, and by whose word.

Django's groups say what somebody may do now. These rows say since when, which tells a second person
from the same one under another name (decision 0168).
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField


@pgtrigger.register(NEVER_TRUNCATED)
class StaffPower(models.Model):
    """One role of one person, from when it was granted to its end.

    Nobody stands in `asked_by` and `granted_by` of what a command line granted.
    """

    id = PrefixedIdField("pow")
    user = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, related_name="staff_powers", db_index=False
    )
    group = models.ForeignKey("auth.Group", on_delete=models.PROTECT, related_name="+")
    asked_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    granted_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    granted_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "power of staff"
        verbose_name_plural = "powers of staff"
        constraints = (
            models.CheckConstraint(
                condition=Q(asked_by=None, granted_by=None)
                | (
                    Q(asked_by__isnull=False, granted_by__isnull=False)
                    & ~Q(asked_by=F("granted_by"))
                ),
                name="power_granted_by_another",
            ),
            models.CheckConstraint(
                condition=Q(granted_by=None) | ~Q(granted_by=F("user")),
                name="power_granted_by_no_holder",
            ),
            models.UniqueConstraint(
                fields=("user", "group"), condition=Q(ended_at=None), name="one_power_per_role"
            ),
        )
        triggers = (
            pgtrigger.Protect(name="power_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="power_never_changes",
                fields=("user", "group", "asked_by", "granted_by", "granted_at"),
            ),
            pgtrigger.Protect(
                name="power_ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.ended_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} is {self.group}"
