"""Our accounts behind the rails, and what banks say of them. Nothing is changed or deleted.

Staff are opaque text here, as in `networks.ach`.
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import AchRail, InFile, columns
from networks.bank_statements.items import CODE_LENGTH_MAX, LineKind
from reconciliation.states import ACCOUNT_STATES, AccountStatus

DIGEST_LENGTH = 64


class StatementFormat(models.TextChoices):
    """What a bank sends about an account. Ids of lines are those of one format."""

    BAI2 = "bai2", "BAI2"
    CAMT = "camt", "camt.053"


class SettlementAccount(models.Model):
    """Our account at the bank behind a rail, in US dollars.

    `opening` are the cents that lay there when `opened_on` began, the first day whose statement is
    taken. Of the rows that were put in force for one number the last one counts: it begins after
    the statements of those before it.
    """

    id = PrefixedIdField("sac")
    rail = models.ForeignKey(
        AchRail, on_delete=models.PROTECT, related_name="settlement_accounts", db_index=False
    )
    number_token = models.TextField(editable=False)
    fingerprint = models.CharField(max_length=DIGEST_LENGTH, editable=False)
    last4 = models.CharField(max_length=4)
    format = models.CharField(max_length=4, choices=StatementFormat)
    opened_on = models.DateField()
    opening = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=AccountStatus, default=AccountStatus.PROPOSED)
    by_command = models.BooleanField(default=False)
    reason = columns.reason()
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()

    class Meta:
        verbose_name = "settlement account"
        permissions = (
            ("propose_settlementaccount", "Can propose a settlement account"),
            ("approve_settlementaccount", "Can approve a settlement account"),
        )
        constraints = (
            columns.one_of("status", AccountStatus, "settlement_account_status_known"),
            columns.one_of("format", StatementFormat, "settlement_account_format_known"),
            models.UniqueConstraint(
                fields=("rail", "fingerprint"),
                condition=Q(status="proposed"),
                name="one_proposed_settlement_account",
            ),
            models.CheckConstraint(
                condition=Q(opening__gte=0), name="settlement_account_opens_with_money"
            ),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="settlement_account_says_why"
            ),
            models.CheckConstraint(
                condition=Q(by_command=True) | ~Q(decided_by=F("proposed_by")),
                name="settlement_account_decided_by_another",
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="settlement_account_decided_iff_dated",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            ACCOUNT_STATES.trigger("settlement_account_moves"),
            pgtrigger.ReadOnly(
                name="settlement_account_never_changes",
                exclude=("number_token", "status", "decided_by", "decided_at"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.rail_id} ··{self.last4}"

    @property
    def encryption_context(self) -> str:
        return f"reconciliation.settlement_account:{self.pk}"

    @property
    def is_open(self) -> bool:
        """Whether another person has to decide."""
        return self.status == AccountStatus.PROPOSED


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class BankStatement(models.Model):
    """What a bank says of one account from `first_day` to `last_day`, proven: cents that lay there
    before, came (`credits`), left (`debits`, positive) and lay there after.

    `number` counts the statements of `file` from 1. `follows` is the account's statement before;
    each has one that follows at most, and only an account's first one follows none.
    `lines_digest` is SHA-256 over the ids of the lines in their order.
    """

    id = PrefixedIdField("bst")
    account = models.ForeignKey(
        SettlementAccount, on_delete=models.PROTECT, related_name="statements", db_index=False
    )
    file = models.ForeignKey(
        InFile, on_delete=models.PROTECT, related_name="statements", db_index=False
    )
    number = models.PositiveIntegerField()
    follows = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="followed_by"
    )
    name = models.CharField(max_length=80, blank=True)
    first_day = models.DateField()
    last_day = models.DateField()
    opening = models.BigIntegerField()
    credits = models.BigIntegerField()
    debits = models.BigIntegerField()
    closing = models.BigIntegerField()
    line_count = models.PositiveIntegerField()
    lines_digest = models.CharField(max_length=DIGEST_LENGTH)
    taken_at = models.DateTimeField()

    class Meta:
        verbose_name = "bank statement"
        permissions = (("upload_bankstatement", "Can upload a bank statement"),)
        constraints = (
            models.UniqueConstraint(fields=("file", "number"), name="one_statement_per_place"),
            models.UniqueConstraint(fields=("account", "last_day"), name="one_statement_per_day"),
            models.UniqueConstraint(
                fields=("account",), condition=Q(follows=None), name="one_first_statement"
            ),
            models.CheckConstraint(
                condition=Q(closing=F("opening") + F("credits") - F("debits")),
                name="statement_adds_up",
            ),
            models.CheckConstraint(
                condition=Q(opening__gte=0, credits__gte=0, debits__gte=0),
                name="statement_has_no_negative_sums",
            ),
            models.CheckConstraint(
                condition=Q(first_day__lte=F("last_day")), name="statement_days_in_order"
            ),
        )
        indexes = (
            models.Index(fields=("taken_at",), name="bank_statement_age"),
            models.Index(fields=("last_day", "id"), name="bank_statement_by_day"),
        )

    def __str__(self) -> str:
        return f"Statement of {self.last_day:%B %-d, %Y}"


class StatementLine(models.Model):
    """One credit (cents above zero) or debit (below) of a statement.

    `position` is the record of BAI2 or the entry of camt in the file. `digest` follows from what
    the line says (`networks.bank_statements.identity`). `references` are the bank's and ours, by
    the names of `networks.bank_statements.items.References`, without empty ones. `said_token` is
    what else the line says: names and texts, encrypted.
    """

    id = models.BigAutoField(primary_key=True)
    statement = models.ForeignKey(
        BankStatement, on_delete=models.PROTECT, related_name="lines", db_index=False
    )
    position = models.PositiveIntegerField()
    amount = models.BigIntegerField()
    booked_on = models.DateField()
    value_on = models.DateField(null=True, blank=True)
    kind = models.CharField(
        max_length=8, choices=[(kind.value, kind.value.capitalize()) for kind in LineKind]
    )
    type_code = models.CharField(max_length=CODE_LENGTH_MAX, blank=True)
    return_code = models.CharField(max_length=CODE_LENGTH_MAX, blank=True)
    is_reversal = models.BooleanField()
    references = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=DIGEST_LENGTH)
    said_token = models.TextField(blank=True, editable=False)
    taken_at = models.DateTimeField()

    class Meta:
        verbose_name = "line of a bank statement"
        verbose_name_plural = "lines of bank statements"
        permissions = (("reveal_statementline", "Can read what a line says of people"),)
        constraints = (
            models.UniqueConstraint(fields=("statement", "position"), name="one_line_per_position"),
            models.UniqueConstraint(fields=("statement", "digest"), name="one_line_per_digest"),
        )
        indexes = (
            models.Index(fields=("taken_at",), name="statement_line_age"),
            models.Index(fields=("statement", "amount"), name="statement_line_by_amount"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            # Its token is written anew when the key changes.
            pgtrigger.ReadOnly(name="statement_line_never_changes", exclude=("said_token",)),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.booked_on:%B %-d, %Y}"

    # The row gets its id after its token: its place names it as well.
    @property
    def encryption_context(self) -> str:
        return f"reconciliation.statement_line:{self.statement_id}:{self.position}"
