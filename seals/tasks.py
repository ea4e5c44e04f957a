"""Celery tasks of this app. Only rows dated before the database's time are sealed."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from common.database_clock import capped
from seals import publication, rounds, streaming


@shared_task(name="seals.seal_due")
def seal_due(**_future: object) -> None:
    rounds.seal_due(now=capped(utc_now()))


@shared_task(name="seals.publish")
def publish(**_future: object) -> None:
    publication.publish(now=capped(utc_now()))


@shared_task(name="seals.stream_audit")
def stream_audit(**_future: object) -> None:
    streaming.send_due(now=capped(utc_now()))
