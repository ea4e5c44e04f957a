"""How long automatic funding leaves a bank account alone."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from common.database.rights import Rights
from common.fields import PrefixedIdField


class AccountBackOff(models.Model):
    """The debits of one bank account that failed in a row, whatever started them.

    The row belongs to the account, not to a row of `FundingSource`: an account that is removed and
    added again keeps its failures. It has no foreign key to the source, because it is written under
    the balance row's lock, and whoever holds that lock must not wait for a source.
    """

    id = PrefixedIdField("abo")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    fingerprint = models.CharField(max_length=64, editable=False)
    failures_in_a_row = models.PositiveSmallIntegerField(default=0)
    until = models.DateTimeField(help_text="no automatic debit of this account before")

    app_rights = Rights(delete=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "fingerprint"), name="one_back_off_per_account"
            ),
            models.CheckConstraint(
                condition=Q(failures_in_a_row__gte=1), name="back_off_after_a_failure"
            ),
        )

    def __str__(self) -> str:
        return f"account of {self.tenant_id} left alone until {self.until:%Y-%m-%d %H:%M}"
