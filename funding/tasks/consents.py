"""Consents of bank accounts that are gone: a sweep, woken early by an enqueue after commit."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import consents


@shared_task(name="funding.revoke_consents")
def revoke_consents(**_future: object) -> None:
    consents.revoke_due(now=utc_now())
