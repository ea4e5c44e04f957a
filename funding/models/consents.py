"""What people allowed a bank-linking provider to let us see."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from common import crypto, days
from common.fields import PrefixedIdField
from common.leases import Leased
from funding.models.sources import FundingSource


class LinkConsent(Leased):
    """The provider's secret for one bank sign-in, kept as long as a bank account needs it.

    Some banks give out account numbers that work only while the consent lasts, so the consent is
    kept after the numbers were read. It is revoked when its account is removed, or when no account
    came of it; `next_attempt_at` says when that is due. The row of a revoked consent stays, without
    the secret.
    """

    id = PrefixedIdField("lc")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    source = models.OneToOneField(
        FundingSource, on_delete=models.PROTECT, null=True, blank=True, related_name="consent"
    )
    provider = models.CharField(max_length=16)
    secret_token = models.TextField(editable=False, blank=True)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "bank consent"
        constraints = (
            models.CheckConstraint(
                condition=Q(revoked_at=None) & ~Q(secret_token="")
                | Q(revoked_at__isnull=False, secret_token="", next_attempt_at=None),
                name="consent_has_a_secret_until_revoked",
            ),
            models.CheckConstraint(
                condition=Q(source__isnull=False) | ~Q(revoked_at=None, next_attempt_at=None),
                name="consent_without_account_ends",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="consent_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"consent at {self.provider.capitalize()}, {days.when(self.created_at)}"

    @property
    def encryption_context(self) -> str:
        return f"link_consent.secret:{self.pk}"

    def encrypt(self, secret: str) -> None:
        """Fill the column of an unsaved row that has its id."""
        self.secret_token = crypto.encrypt(secret, context=self.encryption_context)

    def in_clear(self) -> str:
        """The secret for the provider. Raises common.crypto.Undecryptable."""
        return crypto.decrypt(self.secret_token, context=self.encryption_context)
