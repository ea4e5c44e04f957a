"""The entries by which an account is proven: two deposits, and the debit that takes them back."""

from __future__ import annotations

from datetime import datetime

import pgtrigger
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import CURRENCY
from funding.models.sources import FundingSource, SourceVerification
from funding.states import DEPOSIT_STATES, DepositStatus
from networks.base import Method, Speed
from transfers.rows import TransferRow, has_a_reason, held_first, to_send

DEPOSIT_SOURCE_TYPE = "micro_deposit"  # in the operator's books

# What Nacha wants the bank statement to say (Operating Rules, micro-entries).
DEPOSIT_DESCRIPTION = "ACCTVERIFY"
METHOD_OF_PART = {1: Method.ACH_CREDIT, 2: Method.ACH_CREDIT, 3: Method.ACH_DEBIT}


@pgtrigger.register(NEVER_TRUNCATED)
class DepositEntry(TransferRow):
    """One of the three entries of a verification. `part` is 1 or 2 for the deposits, 3 for the
    debit of their sum. Amounts are cents and never shown to anybody."""

    id = PrefixedIdField("vde")
    verification = models.ForeignKey(
        SourceVerification, on_delete=models.PROTECT, related_name="entries", db_index=False
    )
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT, related_name="+")
    part = models.PositiveSmallIntegerField()
    amount = models.BigIntegerField(editable=False)
    currency = models.CharField(max_length=3, default=CURRENCY)
    method = models.CharField(max_length=10)
    status = models.CharField(max_length=9, choices=DepositStatus)
    network = models.CharField(max_length=16)
    network_reference = models.CharField(max_length=64, blank=True)
    trace_number = models.CharField(max_length=64, blank=True)
    failure_code = models.CharField(max_length=40, blank=True)
    withdrawal_asked_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when its network was asked to give it back, because another entry failed",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    description = DEPOSIT_DESCRIPTION
    speed = Speed.STANDARD
    returned = False  # for transfers.bank_books: one that came back has failed
    # What `DepositTransfer.refresh` found right before it is sent; not stored here.
    lacks_authorization = False

    class Meta:
        verbose_name = "micro-deposit"
        constraints = (
            models.UniqueConstraint(fields=("verification", "part"), name="one_deposit_per_part"),
            models.CheckConstraint(
                condition=Q(part__in=(1, 2), method="ach_credit", amount__range=(1, 99))
                | Q(part=3, method="ach_debit", amount__range=(2, 198)),
                name="deposit_is_a_part",
            ),
            models.CheckConstraint(
                condition=Q(status__in=DepositStatus.values), name="deposit_status_known"
            ),
            models.CheckConstraint(
                condition=Q(next_attempt_at=None) | Q(status="created"),
                name="only_created_deposits_are_due",
            ),
            has_a_reason("deposit_hold_has_a_reason"),
        )
        indexes = (
            models.Index(fields=("created_at",), name="deposit_made"),
            to_send("deposit_to_send"),
            held_first("deposit_held"),
            models.Index(
                fields=("verification",),
                name="deposit_to_take_back",
                condition=Q(status="sent", withdrawal_asked_at=None),
            ),
        )
        triggers = (
            DEPOSIT_STATES.trigger("deposit_moves"),
            pgtrigger.Protect(name="deposit_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="deposit_terms_never_change",
                fields=(
                    "verification",
                    "tenant",
                    "source",
                    "part",
                    "amount",
                    "currency",
                    "method",
                    "network",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"micro-deposit, part {self.part}, {days.when(self.created_at)}"

    @property
    def is_unsent(self) -> bool:
        return self.status == DepositStatus.CREATED and self.attempts == 0

    @property
    def completed_at(self) -> datetime | None:
        """When its money was final, if it is and did not come back."""
        return self.updated_at if self.status == DepositStatus.COMPLETED else None


def of_verification(verification: SourceVerification) -> list[tuple[int, int]]:
    """The parts of a verification, each with its amount in cents."""
    first, second = verification.amounts
    return [(1, first), (2, second), (3, first + second)]
