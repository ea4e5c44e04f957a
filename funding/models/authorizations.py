"""What holders of bank accounts agreed to, and which debits were made on that word."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX
from funding.models.sources import FundingSource
from funding.models.transactions import FundingTransaction
from tenants.models import ActorType

TEXT_MAX = 4_000
RULE_MAX = 300


class AuthorizationKind(models.TextChoices):
    """As the Payment Type Code of a WEB entry tells them apart (Nacha: S and R)."""

    SINGLE = "single", "One debit"
    RECURRING = "recurring", "Debits by a rule"


class AuthorizationScope(models.TextChoices):
    """Which debits of the account were agreed to."""

    TOPUPS = "topups", "Top-ups that somebody asks for"
    AUTO_FUNDING = "auto_funding", "Automatic funding"
    ACCOUNT = "account", "All debits of the account"


@pgtrigger.register(NEVER_TRUNCATED)
class DebitAuthorization(models.Model):
    """The holder of a bank account agreed to debits of it: what was shown, when, and to whom it was
    said (Nacha Operating Rules, 2.3.2). Amounts are cents.

    Nothing but its end is ever changed, and nothing is deleted: a bank may ask for it until two
    years after the end.
    """

    id = PrefixedIdField("dau")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    source = models.ForeignKey(
        FundingSource, on_delete=models.PROTECT, related_name="authorizations", db_index=False
    )
    kind = models.CharField(max_length=9, choices=AuthorizationKind)
    scope = models.CharField(max_length=12, choices=AuthorizationScope)
    text = models.TextField(help_text="as it was shown")
    text_version = models.CharField(
        max_length=40, blank=True, help_text="empty: not a text of ours, an API key asserted it"
    )
    amount_rule = models.CharField(max_length=RULE_MAX, help_text="in words")
    amount_max = models.BigIntegerField(
        null=True, blank=True, help_text="cents, of one debit; empty: the text alone says it"
    )
    monthly_max = models.BigIntegerField(
        null=True, blank=True, help_text="cents, of all debits of a calendar month"
    )
    revocation = models.CharField(max_length=RULE_MAX, help_text="how to revoke it")
    accepted_at = models.DateTimeField(help_text="when the account holder agreed")
    address = models.CharField(
        max_length=45,
        blank=True,
        help_text="the network address that the agreement came from, if it is known",
    )
    accepted_by_type = models.CharField(max_length=8, choices=ActorType)
    accepted_by_id = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_because = models.CharField(
        max_length=40, blank=True, help_text="a word of ours, or the bank's return code"
    )
    ended_by_type = models.CharField(max_length=8, choices=ActorType, blank=True)
    ended_by_id = models.CharField(max_length=254, blank=True)

    class Meta:
        verbose_name = "debit authorization"
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=AuthorizationKind.values, scope__in=AuthorizationScope.values)
                & (Q(kind="recurring") | Q(scope="topups")),
                name="authorization_kind_known",
            ),
            models.CheckConstraint(
                condition=~Q(text="") & ~Q(amount_rule="") & ~Q(revocation=""),
                name="authorization_says_everything",
            ),
            models.CheckConstraint(
                condition=(Q(amount_max=None) | Q(amount_max__range=(1, AMOUNT_MAX)))
                & (Q(monthly_max=None) | Q(monthly_max__gte=1)),
                name="authorization_amounts_in_range",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_because="", ended_by_type="", ended_by_id="")
                | Q(ended_at__gte=F("created_at")) & ~Q(ended_because="") & ~Q(ended_by_type=""),
                name="authorization_end_has_a_reason",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="authorization_by_tenant"),
            models.Index(fields=("source",), name="authorization_of_source"),
            models.Index(
                fields=("ended_at",),
                name="authorization_ended",
                condition=Q(ended_at__isnull=False),
            ),
        )
        triggers = (
            pgtrigger.Protect(name="authorization_stays", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="authorization_unchanged",
                exclude=("ended_at", "ended_because", "ended_by_type", "ended_by_id"),
            ),
            pgtrigger.Protect(
                name="authorization_ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__ended_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        kind, when = AuthorizationKind(self.kind).label, days.when(self.accepted_at)
        return f"{kind}, accepted {when}"

    @property
    def is_in_force(self) -> bool:
        return self.ended_at is None


@pgtrigger.register(NEVER_TRUNCATED)
class AuthorizedDebit(models.Model):
    """A funding that draws on the account by this authorization. Every call to a network is
    preceded by a look at the authorization, which `in_force_at` keeps."""

    id = PrefixedIdField("dad")
    funding = models.OneToOneField(
        FundingTransaction, on_delete=models.PROTECT, related_name="authorized"
    )
    authorization = models.ForeignKey(
        DebitAuthorization, on_delete=models.PROTECT, related_name="debits"
    )
    kind = models.CharField(max_length=9, choices=AuthorizationKind)
    is_retry = models.BooleanField(
        default=False,
        db_default=False,
        help_text="the debit that was authorized, once more after it came back",
    )
    in_force_at = models.DateTimeField(
        null=True, blank=True, help_text="when it was last seen in force before it was sent"
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "authorized debit"
        constraints = (
            models.UniqueConstraint(
                fields=("authorization",),
                condition=Q(kind="single", is_retry=False),
                name="one_debit_per_single_agreement",
            ),
        )
        triggers = (
            pgtrigger.Protect(name="authorized_debit_stays", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="authorized_debit_unchanged", exclude=("in_force_at",)),
        )

    def __str__(self) -> str:
        return f"authorized debit, {days.when(self.created_at)}"
