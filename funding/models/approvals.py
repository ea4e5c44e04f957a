"""The approval of a large funding, and the magic links that answer it."""

from __future__ import annotations

from django.db import models

from approvals.models import Approval, MagicLink
from funding.models.sources import FundingSource
from funding.models.transactions import FundingTransaction


class Confirmation(Approval):
    """Whether one funding may go ahead, on terms that are copied here."""

    funding = models.OneToOneField(
        FundingTransaction, on_delete=models.PROTECT, related_name="confirmation"
    )
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT)

    direction = "in"

    class Meta(Approval.Meta):
        verbose_name = "funding approval"

    @property
    def subject_id(self) -> str:
        return str(self.funding_id)

    @property
    def account(self) -> FundingSource:
        return self.source


class ConfirmationLink(MagicLink):
    """One magic link of one approver of a funding."""

    confirmation = models.ForeignKey(Confirmation, on_delete=models.PROTECT, related_name="links")

    class Meta(MagicLink.Meta):
        verbose_name = "funding approval link"
