"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from tenants.services import emails


@shared_task(name="tenants.send_due_emails")
def send_due_emails(**_future: object) -> None:
    emails.send_due(now=utc_now())
