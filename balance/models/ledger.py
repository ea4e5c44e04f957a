"""One balance per tenant and the append-only rows behind it."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Func, Q

from balance.kinds import Account, PostingType
from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.money import CURRENCY, format_cents

DESCRIPTION_LENGTH_MAX = 200
SOURCE_LENGTH_MAX = 32


@pgtrigger.register(NEVER_TRUNCATED)
class Balance(models.Model):
    """What a tenant has, in cents. Changed by `balance.posting` and nothing else.

    No column that a posting usually changes has an index, and pages are kept half empty (migration
    0002), so that each update stays on its page. `is_low` changes when `notify_below` is crossed,
    and only then. Domains bound `available`, `pending` and `locked` in the database
    (migrations/sql/cheaper_checks.sql).
    """

    id = PrefixedIdField("bal")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    currency = models.CharField(max_length=3, default=CURRENCY)
    available = models.BigIntegerField(default=0)
    pending = models.BigIntegerField(default=0)
    locked = models.BigIntegerField(default=0)
    sequence = models.BigIntegerField(default=0, help_text="of the last balance transaction")
    posted_at = models.DateTimeField(null=True, help_text="time of the last balance transaction")
    notify_below = models.BigIntegerField(
        null=True, help_text="announce postings that leave less than this available"
    )
    notify_rise = models.BooleanField(
        db_default=False, help_text="announce postings that raise what is available"
    )
    is_low = models.BooleanField(
        db_default=False, help_text="with what is on its way, below `notify_below`"
    )
    low_noted_until = models.DateTimeField(
        null=True,
        help_text="noted as low; until then no sweep has to look again; empty: not noted",
    )

    # Money moves only through `balance_post` and the functions beside it
    # (migrations/sql/posting.sql, posting_in_sets.sql).
    app_rights = Rights(
        insert=False, update=("notify_below", "notify_rise", "is_low", "low_noted_until")
    )

    class Meta:
        db_table = "balance"
        constraints = (
            models.UniqueConstraint(fields=("tenant", "currency"), name="one_balance_per_tenant"),
            # (tenant, sequence) numbers one chain; a second currency needs a wider key first.
            models.CheckConstraint(condition=Q(currency=CURRENCY), name="balance_in_one_currency"),
        )
        indexes = (
            models.Index(
                fields=("is_low", "low_noted_until"),
                include=("tenant",),
                name="balance_low",
                condition=Q(is_low=True) | Q(low_noted_until__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"balance of {self.tenant}"


# What migrations/sql/cheaper_checks.sql judges a line by.
_MONEY = (
    "type",
    "amount",
    "available_delta",
    "locked_delta",
    "available_after",
    "locked_after",
)


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class BalanceTransaction(models.Model):
    """One line of a tenant's statement, and a double entry at once: its type names both accounts.

    Numbered 1, 2, 3 … per tenant without gaps; `created_at` never goes back along the numbers.
    The table is written in SQL (migrations/sql/balance_transaction.sql): hash-partitioned by
    tenant, with (tenant, sequence) as the primary key of the database.
    """

    id = PrefixedIdField("btx")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    sequence = models.BigIntegerField()
    type = models.CharField(max_length=10, choices=PostingType)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, default=CURRENCY)
    available_delta = models.BigIntegerField()
    locked_delta = models.BigIntegerField()
    available_after = models.BigIntegerField()
    locked_after = models.BigIntegerField()
    source_type = models.CharField(max_length=SOURCE_LENGTH_MAX)
    source_id = models.CharField(max_length=SOURCE_LENGTH_MAX, db_collation="C")
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX)
    created_at = models.DateTimeField()

    app_rights = Rights(insert=False, update=False)

    class Meta:
        db_table = "balance_transaction"
        constraints = (
            models.UniqueConstraint(fields=("tenant", "sequence"), name="balance_transaction_pkey"),
            models.UniqueConstraint(fields=("id", "tenant"), name="balance_transaction_id"),
            models.UniqueConstraint(
                fields=("source_id", "tenant", "source_type", "type"),
                name="balance_transaction_once",
            ),
            models.CheckConstraint(
                condition=Func(
                    *map(F, _MONEY),
                    function="balance_line_is_sound",
                    output_field=models.BooleanField(),
                ),
                name="balance_transaction_is_sound",
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "type", "-sequence"), name="balance_transaction_by_type"
            ),
        )

    def __str__(self) -> str:
        label, when = PostingType(self.type).label, days.when(self.created_at)
        return f"{label} of {format_cents(self.amount)}, {when}"


class JournalLeg(models.Model):
    """A read-only view: the two legs of every balance transaction (migration 0003)."""

    id = models.CharField(primary_key=True, max_length=40)
    transaction_id = models.CharField(max_length=32)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.DO_NOTHING, related_name="+")
    sequence = models.BigIntegerField()
    type = models.CharField(max_length=10, choices=PostingType)
    account = models.CharField(max_length=20, choices=Account)
    debit = models.BigIntegerField()
    credit = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    source_type = models.CharField(max_length=32)
    source_id = models.CharField(max_length=32)
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX)
    created_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "balance_journal"

    def __str__(self) -> str:
        return self.id
