"""How much one tenant may bring in."""

from __future__ import annotations

from django.db import models

from common.fields import PrefixedIdField


class FundingLimit(models.Model):
    """The limits that staff set for one tenant, in cents. Where one is empty, the deployment's
    setting applies."""

    id = PrefixedIdField("lim")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    ach_transaction_max = models.BigIntegerField(null=True, blank=True)
    rtp_transaction_max = models.BigIntegerField(null=True, blank=True)
    daily_max = models.BigIntegerField(null=True, blank=True)
    monthly_max = models.BigIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return f"limits of {self.tenant_id}"
