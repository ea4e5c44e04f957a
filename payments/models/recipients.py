"""The accounts that payments go to."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from transfers.accounts import (
    CORRECTABLE,
    VERSION_NEVER_CHANGES,
    AccountVersion,
    StoredAccount,
    account_constraints,
    changes_by_version,
    version_constraints,
)

NICKNAME_LENGTH_MAX = 60


@pgtrigger.register(NEVER_TRUNCATED)
class Recipient(StoredAccount):
    """Where a payment goes. A saved recipient is on the tenant's list; any other belongs to one
    payment."""

    encrypted_as = "recipient"

    id = PrefixedIdField("rcp")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    is_saved = models.BooleanField()
    nickname = models.CharField(
        max_length=NICKNAME_LENGTH_MAX, blank=True, help_text="what the tenant calls it"
    )
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        permissions = (("reveal_recipient_number", "Can see the full number of a recipient"),)
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "fingerprint"),
                condition=Q(is_saved=True, removed_at=None),
                name="one_saved_recipient_per_account",
            ),
            models.CheckConstraint(
                condition=Q(is_saved=True) | Q(removed_at=None),
                name="only_saved_recipients_are_removed",
            ),
            # What payments refer to.
            models.UniqueConstraint(fields=("id", "tenant"), name="recipient_of_tenant"),
            *account_constraints("recipient"),
        )
        indexes = (
            models.Index(
                fields=("tenant", "-created_at", "-id"),
                name="recipient_by_tenant",
                condition=Q(is_saved=True),
            ),
        )
        triggers = (
            pgtrigger.Protect(name="recipient_never_deleted", operation=pgtrigger.Delete),
            # The token may change, because keys are rotated, but not what it decrypts to. A
            # nickname is the tenant's own word and never leaves the product.
            pgtrigger.ReadOnly(
                name="recipient_never_changes",
                exclude=(
                    "account_number_token",
                    "nickname",
                    "removed_at",
                    "version",
                    "corrected_at",
                    *CORRECTABLE,
                ),
            ),
            changes_by_version(versions="payments_recipientversion", key="recipient_id"),
        )

    @property
    def display_name(self) -> str:
        """The nickname, or else the name on the account."""
        return self.nickname or self.account_holder_name


@pgtrigger.register(NEVER_TRUNCATED, VERSION_NEVER_CHANGES)
class RecipientVersion(AccountVersion):
    """Where payments went, or go, between two corrections of the recipient's bank."""

    encrypted_as = Recipient.encrypted_as

    id = PrefixedIdField("rcv")
    recipient = models.ForeignKey(
        Recipient, on_delete=models.PROTECT, related_name="versions", db_index=False
    )

    class Meta:
        verbose_name = "version of a recipient"
        verbose_name_plural = "versions of recipients"
        constraints = version_constraints("recipient_version", "recipient")
        indexes = (models.Index(fields=("fingerprint",), name="recipient_version_account"),)
        triggers = (
            pgtrigger.Protect(name="recipient_version_never_deleted", operation=pgtrigger.Delete),
        )

    @property
    def tenant_id(self) -> str:
        return self.recipient.tenant_id
