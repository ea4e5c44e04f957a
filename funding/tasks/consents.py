"""A sweep that revokes the consents of removed accounts. An enqueue after commit runs it early."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import consents


@shared_task(name="funding.revoke_consents")
def revoke_consents(**_future: object) -> None:
    consents.revoke_due(now=utc_now())
