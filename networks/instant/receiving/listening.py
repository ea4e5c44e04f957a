"""Listens to a network, one worker at a time for each rail: what comes is stored, acknowledged, and
applied, and what we answer leaves at once.

An error never ends that: to ask again costs nothing. What does not pass by itself is told to people
(`InstantLine.trouble`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from common import leases
from common.clock import utc_now
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import capped, judged
from networks.instant import connecting, rails, sending, settling
from networks.instant.models import InstantLine
from networks.instant.rails import RailInForce
from networks.instant.receiving import applying, storing
from networks.instant.transport.base import TOO_LARGE, Delivery, Transport, Unavailable

log = structlog.get_logger(__name__)

TOGETHER = 50
LEASE = timedelta(seconds=60)
SOON, LATER = timedelta(milliseconds=100), timedelta(seconds=30)


@by(WORKER)
@judged
def listen(rail: str, *, seconds: float, now: datetime) -> int:
    """Take all that the network of a rail has, within some seconds, if nobody else does. Returns
    how many messages came.

    It does not wait for more: workers are few, and the next tick comes within a second.
    """
    InstantLine.objects.get_or_create(pk=rail, defaults={"next_attempt_at": now})
    lines = InstantLine.objects.filter(pk=rail)
    came, ends_at = 0, time.monotonic() + seconds
    for line in leases.claim(lines, now=now, limit=1, lease=LEASE):
        try:
            in_force = rails.current(rail)
            transport = connecting.transport(in_force)
            is_more = True
            while is_more:
                new, is_more = _hear(in_force, transport)
                came += new
                is_more = is_more and time.monotonic() < ends_at and _is_ours(line)
        except Unavailable as error:
            log.warning("instant_network_not_heard", rail=rail, cause=error.cause)
            _note(line, error.cause[:40])
        except Exception:
            log.exception("instant_line_failed", rail=rail)
            _note(line, "failed")
        else:
            _note(line, "")
    return came


def _hear(rail: RailInForce, transport: Transport) -> tuple[int, bool]:
    """Take some messages, and see to what follows from them. Returns how many came, and whether
    there may be more."""
    asked_at = capped(utc_now())
    deliveries, is_more = _received(transport)
    _store(rail, transport, deliveries)
    now = capped(utc_now())
    applying.apply_new(rail, now=now)
    if not is_more and applying.is_done(rail):
        _heard_until(rail, asked_at)
    sending.send_due(rail.name, now=now)  # our answers, at once
    return len(deliveries), is_more


def _received(transport: Transport) -> tuple[Sequence[Delivery], bool]:
    """The oldest messages, and whether there may be more. Fewer are asked for where so many are too
    large to come at once; a payer's answer may be behind them. Raises Unavailable."""
    limit = TOGETHER
    while True:
        try:
            found = transport.receive(limit=limit, wait=timedelta(0))
        except Unavailable as error:
            if error.cause != TOO_LARGE or limit == 1:
                raise
            limit = max(1, limit // 4)
        else:
            return found, len(found) >= limit


def _store(rail: RailInForce, transport: Transport, deliveries: Sequence[Delivery]) -> None:
    """What is stored is not lost, so that it may be acknowledged."""
    for each in deliveries:
        storing.store(rail, each.content, now=capped(utc_now()))
    if deliveries:
        transport.acknowledge([each.id for each in deliveries])


@transaction.atomic
def _heard_until(rail: RailInForce, moment: datetime) -> None:
    """Everything up to a moment is here and applied: what expired by then has expired."""
    lines = InstantLine.objects.select_for_update(no_key=True)
    lines.filter(pk=lines.get(pk=rail.name).pk).update(heard_until=moment)
    settling.expire_due(rail.name, now=moment)


def _is_ours(line: InstantLine) -> bool:
    return leases.renew(line, now=utc_now(), lease=LEASE)


def _note(line: InstantLine, trouble: str) -> None:
    now = utc_now()
    since = (line.trouble_since or now) if trouble else None
    pause = min(LATER, SOON * 2 ** min(line.attempts, 10)) if trouble else timedelta(0)
    leases.finish(
        line,
        next_attempt_at=now + pause,
        trouble=trouble,
        trouble_since=since,
        attempts=line.attempts if trouble else 0,
    )
