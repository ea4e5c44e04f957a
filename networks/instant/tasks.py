"""The Celery tasks of instant rails. All are sweeps: to run one twice, or at the same time, does no
harm."""

from __future__ import annotations

import structlog
from celery import shared_task

from common import sweeps
from common.clock import utc_now
from networks.instant import rails, sending, settling, taking
from networks.instant.receiving import listening
from networks.instant.terms import InvalidTerms

log = structlog.get_logger(__name__)

# A worker ends a task after 90 seconds; beat ticks every second.
_LISTENS_SECONDS = 15.0


@shared_task(name="networks.listen_to_instant")
def listen(**_future: object) -> None:
    """Take what the networks have, and answer it. A rail that fails holds up no other one."""
    sweeps.each(_known_rails(), _listen, failure="instant_networks_not_heard")


@shared_task(name="networks.send_instant_messages")
def send(**_future: object) -> None:
    """Hand over what is due: what waited, what a worker left behind, and what nobody answered. A
    rail that fails holds up no other one."""
    sweeps.each(_known_rails(), _send, failure="instant_messages_not_sent")


@shared_task(name="networks.finish_instant_payments")
def finish(**_future: object) -> None:
    """End the payments whose receiving banks had time to post them, and miss what networks had time
    to say."""
    now = utc_now()
    settling.finish_pending(now=now)
    settling.watch_unadvised(now=now)


def _listen(rail: str) -> int:
    return listening.listen(rail, seconds=_LISTENS_SECONDS, now=utc_now())


def _send(rail: str) -> int:
    released = taking.release_waiting(rail, now=utc_now())
    return released + sending.send_due(rail, now=utc_now())


def _known_rails() -> list[str]:
    """The rails whose terms can be read."""
    return [name for name in rails.names() if _has_terms(name)]


def _has_terms(rail: str) -> bool:
    try:
        rails.current(rail)
    except (rails.NoTerms, InvalidTerms):
        log.error("instant_terms_unreadable", rail=rail)
        return False
    return True
