"""The Celery tasks of ACH. All are sweeps: to run one twice, or at the same time, does no harm."""

from __future__ import annotations

import time

import structlog
from celery import shared_task

from common.clock import utc_now
from networks.ach import (
    acknowledging,
    building,
    freezing,
    rails,
    releasing,
    replying,
    reversing,
    sending,
)
from networks.ach.inbound import fetching, reading
from networks.ach.models.rails import RailPart
from networks.ach.sftp.errors import SftpError
from networks.ach.terms import InvalidTerms

log = structlog.get_logger(__name__)

# A worker ends a task after 90 seconds: nothing new is begun after these.
_BEGINS_UNTIL_SECONDS = 40.0


@shared_task(name="networks.make_ach_files")
def make_files(**_future: object) -> None:
    """Freeze what the open cut-offs take, and build what is frozen."""
    begun = time.monotonic()
    for rail in _known_rails():
        freezing.freeze_due(rail, now=utc_now())
        replying.freeze_due(rail, now=utc_now())
        while time.monotonic() - begun < _BEGINS_UNTIL_SECONDS:
            if building.build_next(rail, now=utc_now()) is None:
                break


@shared_task(name="networks.send_ach_files")
def send_files(**_future: object) -> None:
    """Send what is released; a bank is called only if there is something for it."""
    for rail in _known_rails():
        if not sending.has_due(rail, now=utc_now()):
            continue
        try:
            _send(rail)
        except SftpError as error:
            log.error("ach_bank_not_reached", rail=rail, code=error.code)


@shared_task(name="networks.fetch_ach_files")
def fetch_files(**_future: object) -> None:
    """Store what the banks have put there for us."""
    for rail in _known_rails():
        if rails.is_stopped(rail, RailPart.READING):
            continue
        try:
            _fetch(rail)
        except SftpError as error:
            log.error("ach_bank_not_reached", rail=rail, code=error.code)


@shared_task(name="networks.read_ach_files")
def read_files(**_future: object) -> None:
    """Read and apply what is stored."""
    reading.read_due(now=utc_now())


@shared_task(name="networks.watch_ach_files")
def watch_files(**_future: object) -> None:
    """Give up what missed its cut-off, accept what is not answered, and finish what is final."""
    for rail in _known_rails():
        releasing.give_up_missed(rail, now=utc_now())
        acknowledging.accept_unanswered(rail, now=utc_now())
    acknowledging.finish_final(now=utc_now())
    reversing.run(now=utc_now())


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


def _send(rail: str) -> None:
    # They load asyncssh, which other workers do without.
    from networks.ach import connecting
    from networks.ach.sftp.bank import connected

    try:
        line = connecting.settings(rail)
    except connecting.NotConnected:
        log.error("ach_bank_not_connected", rail=rail)
        return
    with connected(line) as bank:
        sending.send_next(rail, bank, now=utc_now())


def _fetch(rail: str) -> None:
    from networks.ach import connecting
    from networks.ach.sftp.bank import connected

    try:
        line = connecting.settings(rail)
    except connecting.NotConnected:
        return
    with connected(line) as bank:
        folders = rails.current(rail).parsed.connection.folders
        fetching.fetch(bank, rail_id=rail, folders=folders, now=utc_now(), failures=(SftpError,))
