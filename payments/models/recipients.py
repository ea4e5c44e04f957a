"""The accounts that payments go to."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from transfers.accounts import StoredAccount

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
                exclude=("account_number_token", "nickname", "removed_at"),
            ),
        )

    @property
    def display_name(self) -> str:
        """The nickname, or else the name on the account."""
        return self.nickname or self.account_holder_name
