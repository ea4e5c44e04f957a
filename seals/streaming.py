"""Sends the audit log on to a system that watches many others: each line at least once.

How far it is, is a row. The lines after it go out in pages, and it moves on once a page was taken.
Whoever dies in between, or hears no answer, sends the page again: receivers tell repeats by `id`.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import structlog
from django.conf import settings

from common import leases
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.engine.http import trust
from common.engine.http.addresses import parse_networks
from common.engine.http.client import post_once
from common.engine.http.urls import Policy
from seals import leaving
from seals.models import AuditStream
from tenants.models import AuditEvent

log = structlog.get_logger(__name__)

EVERY = timedelta(seconds=15)
PAUSE_MAX = timedelta(hours=1)
# One call answers within 15 s, so the lease covers the last one that begins in time.
RUN_SECONDS = 30.0
LEASE = timedelta(seconds=60)
SYSLOG_SECONDS = 10.0
SYSLOG_PORT = 6514
_PRIORITY = 13 * 8 + 6  # log audit, informational (RFC 5424)
_NAME = "siem"
# The operator named the address, so any network will do.
_ANYWHERE = parse_networks(("0.0.0.0/0", "::/0"))


class NotTaken(Exception):
    """The receiver did not take the lines. The text says why, without any secret."""


@by(AUDIT)
def send_due(*, now: datetime) -> int:
    """Send what is new, if it is time; returns how many lines were taken. Must not run in a
    transaction."""
    if not settings.AUDIT_STREAM_URL:
        return 0
    AuditStream.objects.get_or_create(name=_NAME, defaults={"next_attempt_at": now})
    streams = leases.claim(AuditStream.objects.all(), now=now, limit=1, lease=LEASE)
    return sum(_send(stream, now) for stream in streams)


def _send(stream: AuditStream, now: datetime) -> int:
    ends = time.monotonic() + RUN_SECONDS
    taken, after, error = 0, stream.after, ""
    try:
        for page in leaving.pages(after=after, now=now):
            _hand_over(page)
            taken, after = taken + len(page), page[-1].pk
            if time.monotonic() > ends:
                break
    except (NotTaken, OSError, leaving.Waiting) as failure:
        error = f"{type(failure).__name__}: {failure}"[:200]
        log.error("audit_not_streamed", after=after, attempts=stream.attempts, error=error)
    leases.finish(
        stream,
        after=after,
        last_error=error,
        attempts=stream.attempts if error else 0,
        next_attempt_at=now + (_pause(stream.attempts) if error else EVERY),
    )
    return taken


def _pause(attempts: int) -> timedelta:
    """15 s after the first failure, twice as long after each one more, an hour at most."""
    doublings = max(0, min(attempts - 1, 10))
    return min(EVERY * (1 << doublings), PAUSE_MAX)


def _hand_over(page: Sequence[AuditEvent]) -> None:
    """Raises NotTaken, OSError."""
    lines = leaving.lines(page)
    if settings.AUDIT_STREAM_URL.startswith("syslog+tls:"):
        _to_syslog(lines, [row.created_at for row in page])
    else:
        _to_http(lines)


def _to_http(lines: Sequence[str]) -> None:
    """One JSON object per line. The setting refuses http, but to this machine."""
    headers = {"Content-Type": "application/x-ndjson"}
    if settings.AUDIT_STREAM_AUTHORIZATION:
        headers["Authorization"] = settings.AUDIT_STREAM_AUTHORIZATION
    answer = post_once(
        Policy(allowed_networks=_ANYWHERE),
        settings.AUDIT_STREAM_URL,
        body="".join(f"{line}\n" for line in lines).encode("ascii"),
        headers=headers,
        allow_http=True,
    )
    if not answer.is_success:
        raise NotTaken(f"answer {answer.status}" if answer.status else str(answer.failure))


def _to_syslog(lines: Sequence[str], moments: Sequence[datetime]) -> None:
    """RFC 5424 messages over TLS, each with its length in front (RFC 5425).

    Syslog has no answer. TLS's farewell (close_notify) stands for one, which a receiver owes to
    ours (RFC 5425 § 4.4): one that was killed has perhaps read the lines, and kept none of them.
    """
    where = urlsplit(settings.AUDIT_STREAM_URL)
    host, port = where.hostname or "", where.port or SYSLOG_PORT
    ours = urlsplit(settings.BASE_URL).hostname or "-"
    messages = b"".join(map(_framed, lines, moments, [ours] * len(lines)))
    with (
        socket.create_connection((host, port), timeout=SYSLOG_SECONDS) as plain,
        trust.system().wrap_socket(plain, server_hostname=host) as line,
    ):
        line.sendall(messages)
        try:
            line.unwrap()
        except ssl.SSLError as broken:
            raise NotTaken("it hung up without a farewell") from broken


def _framed(line: str, moment: datetime, host: str) -> bytes:
    at = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    message = f"<{_PRIORITY}>1 {at} {host} ballast - audit - {line}".encode("ascii")
    return b"%d %b" % (len(message), message)
