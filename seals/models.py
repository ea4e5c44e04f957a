"""The chains of seals (decision 0116). Their rows are written once and never change."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.db import models

from common import ids
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.database.rights import Rights
from common.leases import Leased

_MAC_LENGTH = 64  # hex digits of HMAC-SHA256
_KEY_ID_LENGTH = 32


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class SealRound(models.Model):
    """One pass over everything: which rows it looked at, and what its seals come to.

    `windows` is per kind of row `[layout, since, until]` with times as text; a null `since` means
    from the beginning. `seals_digest` is over the seals of this round, `chains` counts the chains
    that there are since. `mac` is keyed, over all of it and the `previous` round's.
    """

    number = models.IntegerField(primary_key=True)
    made_at = models.DateTimeField()
    windows = models.JSONField()
    seals = models.IntegerField()
    chains = models.IntegerField()
    seals_digest = models.CharField(max_length=_MAC_LENGTH)
    previous = models.CharField(max_length=_MAC_LENGTH, blank=True)
    key_id = models.CharField(max_length=_KEY_ID_LENGTH)
    mac = models.CharField(max_length=_MAC_LENGTH)

    class Meta:
        verbose_name = "seal round"
        constraints = (models.UniqueConstraint(fields=("mac",), name="one_round_a_mac"),)

    def __str__(self) -> str:
        return f"seal round {self.number:,}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class Seal(models.Model):
    """What a round found new of one tenant, by kind: how many rows, and their digest.

    `chain` is the tenant's id, and empty for rows of no tenant. It is no foreign key, because a
    seal outlives its tenant. `sequence` is the last sealed line of the ledger. `mac` is keyed, over
    all of it and the `previous` seal's of the chain; over `rows` too, because the digest of a kind
    is one over the digests of its rows.
    """

    chain = models.CharField(max_length=ids.ID_LENGTH_MAX, blank=True, db_collation="C")
    number = models.IntegerField()
    round = models.ForeignKey(SealRound, on_delete=models.PROTECT, related_name="+")
    sequence = models.BigIntegerField()
    covers = models.JSONField(help_text="by kind: how many rows, and their digest")
    rows = models.JSONField(
        null=True, help_text="of kinds whose rows are named: each row's id and digest"
    )
    previous = models.CharField(max_length=_MAC_LENGTH, blank=True)
    key_id = models.CharField(max_length=_KEY_ID_LENGTH)
    mac = models.CharField(max_length=_MAC_LENGTH)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("chain", "number"), name="one_seal_a_number"),
        )

    def __str__(self) -> str:
        return f"seal {self.number:,} of {'a tenant' if self.chain else 'the operator'}"


class PublishedWay(models.TextChoices):
    FILE = "file"
    WEBHOOK = "webhook"
    MAIL = "mail", "E-mail"


class SealPublication(models.Model):
    """One attempt to publish outside how far the chains go. A note for the desk and for alarms."""

    round_number = models.IntegerField()
    way = models.CharField(max_length=7, choices=PublishedWay)
    at = models.DateTimeField()
    error = models.CharField(max_length=200, blank=True, help_text="empty: it was taken")

    app_rights: ClassVar = Rights(update=False, delete=True)

    class Meta:
        indexes = (models.Index(fields=("way", "-at"), name="seal_publication_latest"),)

    def __str__(self) -> str:
        return f"round {self.round_number} by {self.way}"


class AuditStream(Leased):
    """How far the audit log was sent to AUDIT_STREAM_URL. There is one row, which is always due."""

    name = models.CharField(max_length=16, primary_key=True)
    after = models.CharField(
        max_length=ids.ID_LENGTH_MAX, blank=True, help_text="the last line that was taken"
    )
    last_error = models.CharField(max_length=200, blank=True, help_text="empty: all were taken")

    class Meta:
        verbose_name = "audit stream"

    def __str__(self) -> str:
        return f"{self.name}, up to {self.after or 'the beginning'}"
