"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from tenants.services import access, emails


@shared_task(name="tenants.send_due_emails")
def send_due_emails(**_future: object) -> None:
    emails.send_due(now=utc_now())


@shared_task(name="tenants.expire_access")
def expire_access(**_future: object) -> None:
    access.expire_due(now=utc_now())
