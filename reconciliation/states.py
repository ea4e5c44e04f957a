"""The lives of a settlement account and of a clearing: two people decide, and then it never
changes."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class AccountStatus(models.TextChoices):
    PROPOSED = "proposed", "Another person decides"
    CURRENT = "current", "In force"
    REJECTED = "rejected"


ACCOUNT_STATES = StateTable(
    initial=frozenset({AccountStatus.PROPOSED, AccountStatus.CURRENT}),
    moves={
        AccountStatus.PROPOSED: frozenset({AccountStatus.CURRENT, AccountStatus.REJECTED}),
        AccountStatus.CURRENT: frozenset(),
        AccountStatus.REJECTED: frozenset(),
    },
    states=set(AccountStatus.values),
)


class ClearingStatus(models.TextChoices):
    PROPOSED = "proposed", "Another person decides"
    APPROVED = "approved"
    REJECTED = "rejected"


CLEARING_STATES = StateTable(
    initial=frozenset({ClearingStatus.PROPOSED}),
    moves={
        ClearingStatus.PROPOSED: frozenset({ClearingStatus.APPROVED, ClearingStatus.REJECTED}),
        ClearingStatus.APPROVED: frozenset(),
        ClearingStatus.REJECTED: frozenset(),
    },
    states=set(ClearingStatus.values),
)
