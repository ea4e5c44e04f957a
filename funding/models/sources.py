"""Bank accounts we may draw from, and the small deposits that prove them."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.leases import Leased
from common.money import CURRENCY
from funding.states import SOURCE_STATES, VERIFICATION_TRIES_MAX, SourceStatus
from transfers.accounts import (
    VERSION_NEVER_CHANGES,
    AccountVersion,
    StoredAccount,
    account_constraints,
    changes_by_version,
    version_constraints,
)


class FundingMethod(models.TextChoices):
    """How money is asked for. RTP cannot pull: it sends a request that the account holder
    answers."""

    ACH_DEBIT = "ach_debit", "ACH debit"
    RTP = "rtp", "Request for payment (RTP)"


class SourceType(models.TextChoices):
    LINKED = "linked"
    MANUAL = "manual"


class VerificationMethod(models.TextChoices):
    BANK_LINK = "bank_link", "Bank link"
    MICRO_DEPOSITS = "micro_deposits", "Micro-deposits"
    # Its network asks for none. The word is the interface's: only sandbox networks do so.
    NOT_NEEDED = "sandbox", "Sandbox"


@pgtrigger.register(NEVER_TRUNCATED)
class FundingSource(StoredAccount):
    """A bank account of the tenant."""

    encrypted_as = "funding_source"

    id = PrefixedIdField("fs")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    type = models.CharField(max_length=6, choices=SourceType)
    status = models.CharField(max_length=20, choices=SourceStatus)
    verification_method = models.CharField(max_length=14, choices=VerificationMethod)
    link_account_id = models.CharField(max_length=128, blank=True)
    supported_methods = ArrayField(models.CharField(max_length=9, choices=FundingMethod))
    is_default = models.BooleanField(default=False)
    last_return_code = models.CharField(max_length=8, blank=True)
    authorization_ended_at = models.DateTimeField(
        null=True, blank=True, help_text="when the bank last said that debits are not authorized"
    )
    is_holder_known = models.BooleanField(
        default=True,
        db_default=True,
        help_text="whether anybody said that the holder is a business or an individual",
    )
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "bank account"
        permissions = (("reveal_source_number", "Can see the full number of a bank account"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=SourceStatus.values), name="funding_source_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="removed", removed_at__isnull=False)
                | (~Q(status="removed") & Q(removed_at=None)),
                name="funding_source_removed_iff_dated",
            ),
            models.CheckConstraint(
                condition=~Q(status="removed", is_default=True),
                name="removed_source_is_not_default",
            ),
            models.UniqueConstraint(
                fields=("tenant", "fingerprint"),
                condition=~Q(status="removed"),
                name="one_source_per_account",
            ),
            models.UniqueConstraint(
                fields=("tenant",), condition=Q(is_default=True), name="one_default_source"
            ),
            # What fundings refer to.
            models.UniqueConstraint(fields=("id", "tenant"), name="source_of_tenant"),
            *account_constraints("funding_source"),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="source_by_tenant"),
            models.Index(fields=("fingerprint",), name="source_by_account"),
            models.Index(
                fields=("id",),
                name="source_unproven",
                condition=Q(status=SourceStatus.PENDING_VERIFICATION),
            ),
        )
        triggers = (
            SOURCE_STATES.trigger("source_moves"),
            pgtrigger.Protect(name="source_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="source_stays_whose_it_is", fields=("tenant", "type")),
            changes_by_version(versions="funding_fundingsourceversion", key="source_id"),
        )


@pgtrigger.register(NEVER_TRUNCATED, VERSION_NEVER_CHANGES)
class FundingSourceVersion(AccountVersion):
    """A bank account of the tenant as it was, or is, between two corrections of its bank."""

    encrypted_as = FundingSource.encrypted_as

    id = PrefixedIdField("fsv")
    source = models.ForeignKey(
        FundingSource, on_delete=models.PROTECT, related_name="versions", db_index=False
    )

    class Meta:
        verbose_name = "version of a bank account"
        verbose_name_plural = "versions of bank accounts"
        constraints = version_constraints("source_version", "source")
        indexes = (models.Index(fields=("fingerprint",), name="source_version_by_account"),)
        triggers = (
            pgtrigger.Protect(name="source_version_never_deleted", operation=pgtrigger.Delete),
        )

    @property
    def tenant_id(self) -> str:
        return self.source.tenant_id


class SourceVerification(Leased):
    """Two small credits whose amounts prove that the tenant can see the account's statement.

    The row is due work until its three entries (`DepositEntry`) are stored. `amounts`
    (cents) are stored with or before them and are never shown to anybody. Rows of older
    releases were sent themselves, as one instruction.
    """

    id = PrefixedIdField("ver")
    source = models.OneToOneField(
        FundingSource, on_delete=models.PROTECT, related_name="verification"
    )
    amounts = ArrayField(
        models.PositiveSmallIntegerField(),
        default=list,
        editable=False,
        help_text="empty until a network has chosen them",
    )
    network = models.CharField(max_length=16, blank=True)
    tries_used = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="runs from the moment the network took the deposits"
    )
    created_at = models.DateTimeField()
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "micro-deposit verification"
        constraints = (
            models.CheckConstraint(
                condition=Q(tries_used__lte=VERIFICATION_TRIES_MAX),
                name="verification_tries_are_limited",
            ),
            models.CheckConstraint(
                condition=Q(amounts=[]) | Q(amounts__len=2), name="verification_has_two_amounts"
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="verification_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        )

    # What messages of a network are compared with.
    currency = CURRENCY

    def __str__(self) -> str:
        return f"micro-deposit verification, {days.when(self.created_at)}"

    @property
    def amount(self) -> int:
        return sum(self.amounts)

    @property
    def status(self) -> str:
        return self.source.status
