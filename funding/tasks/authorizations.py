"""A sweep for debits whose authorization has ended. An enqueue after commit runs it early."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import debit_withdrawals


@shared_task(name="funding.withdraw_debits")
def withdraw_debits(**_future: object) -> None:
    debit_withdrawals.withdraw_due(now=utc_now())
