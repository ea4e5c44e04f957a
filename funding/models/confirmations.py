"""The question put to the approvers of a funding, and the links that answer it."""

from __future__ import annotations

from django.db import models

from approvals.models import MagicLink, Question
from funding.models.sources import FundingSource
from funding.models.transactions import FundingTransaction


class Confirmation(Question):
    """Whether one funding may go ahead, on terms that are copied here."""

    funding = models.OneToOneField(
        FundingTransaction, on_delete=models.PROTECT, related_name="confirmation"
    )
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT)

    direction = "in"

    class Meta(Question.Meta):
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
