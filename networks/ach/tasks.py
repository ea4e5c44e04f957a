"""The Celery tasks of ACH. All are sweeps: to run one twice, or at the same time, does no harm."""

from __future__ import annotations

import time

import structlog
from celery import shared_task

from common import sweeps
from common.clock import utc_now
from networks.ach import (
    acknowledging,
    building,
    freezing,
    long_work,
    prenotes,
    promises,
    rails,
    releasing,
    replying,
    reversing,
    sending,
    spoken,
)
from networks.ach.inbound import lines, reading
from networks.ach.terms import InvalidTerms

log = structlog.get_logger(__name__)

# A worker ends a task after 90 seconds: nothing new is begun after these.
_BEGINS_UNTIL_SECONDS = 40.0
# Tasks that move whole files over a line, in seconds: longer than such work may last, once begun.
# Their messages are acknowledged before they run: what a killed one had claimed, a later tick does.
_SOFT = int(_BEGINS_UNTIL_SECONDS + long_work.SECONDS_MAX) + 120
_HARD = _SOFT + 60


@shared_task(name="networks.make_ach_files")
def make_files(**_future: object) -> None:
    """Freeze what the open cut-offs take, and build what is frozen. A rail that fails holds up no
    other one."""
    begun, known = time.monotonic(), _known_rails()
    sweeps.each(known, _freeze, failure="ach_entries_not_frozen")
    sweeps.each(known, _freeze_replies, failure="ach_replies_not_frozen")
    sweeps.each(known, lambda rail: _build(rail, begun), failure="ach_files_not_built")


@shared_task(
    name="networks.send_ach_files", soft_time_limit=_SOFT, time_limit=_HARD, acks_late=False
)
def send_files(**_future: object) -> None:
    """Send what is released; a bank is called only if there is something for it. A rail that fails
    holds up no other one."""
    begun = time.monotonic()
    sweeps.each(_known_rails(), lambda rail: _send(rail, begun), failure="ach_files_not_sent")


@shared_task(
    name="networks.fetch_ach_files", soft_time_limit=_SOFT, time_limit=_HARD, acks_late=False
)
def fetch_files(**_future: object) -> None:
    """Store what the banks have put there for us. A rail that fails holds up no other one."""
    begun = time.monotonic()
    sweeps.each(_known_rails(), lambda rail: _fetch(rail, begun), failure="ach_files_not_fetched")


@shared_task(name="networks.read_ach_files")
def read_files(**_future: object) -> None:
    """Read and apply what is stored."""
    reading.read_due(now=utc_now())


@shared_task(name="networks.watch_ach_files")
def watch_files(**_future: object) -> None:
    """Give up what missed its cut-off, apply what banks said by telephone, accept what is not
    answered, tell of promises that are broken, end what a prenote has refused, and finish what is
    final."""
    sweeps.each(_known_rails(), _watch, failure="ach_files_not_watched")
    acknowledging.finish_final(now=utc_now())
    reversing.run(now=utc_now())


def _freeze(rail: str) -> int:
    return len(freezing.freeze_due(rail, now=utc_now()))


def _freeze_replies(rail: str) -> int:
    return len(replying.freeze_due(rail, now=utc_now()))


def _build(rail: str, begun: float) -> int:
    count = 0
    while _may_begin(begun) and building.build_next(rail, now=utc_now()) is not None:
        count += 1
    return count


def _send(rail: str, begun: float) -> int:
    count = 0
    while _may_begin(begun) and sending.has_due(rail, now=utc_now()):
        # It loads asyncssh, which other workers do without.
        from networks.ach.connecting import AtBank

        if sending.send_next(rail, AtBank(rail), now=utc_now()) is None:
            break
        count += 1
    return count


def _fetch(rail: str, begun: float) -> int:
    if not _may_begin(begun):
        return 0
    from networks.ach.connecting import open_bank

    found = lines.fetch_next(rail, open_bank, now=utc_now())
    return found.new if found else 0


def _watch(rail: str) -> int:
    given_up = releasing.give_up_missed(rail, now=utc_now())
    answered = spoken.finish_all(rail, now=utc_now())
    answered += len(acknowledging.accept_unanswered(rail, now=utc_now()))
    told = promises.tell_late(rail, now=utc_now())
    return len(given_up) + answered + told + prenotes.end_refused(rail, now=utc_now())


def _may_begin(begun: float) -> bool:
    return time.monotonic() - begun < _BEGINS_UNTIL_SECONDS


def _known_rails() -> list[str]:
    """The rails whose terms can be read."""
    return [name for name in rails.names() if _has_terms(name)]


def _has_terms(rail: str) -> bool:
    try:
        rails.current(rail)
    except (rails.NoTerms, InvalidTerms):
        log.error("ach_terms_unreadable", rail=rail)
        return False
    return True
