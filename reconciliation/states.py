"""The life of a settlement account: two people put it in force, and then it never changes."""

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
