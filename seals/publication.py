"""Publishes once an hour how far the chains of seals go: to a file, an address or a mailbox.

Somebody who owns the database can cut off the end of a chain, or all of it, and nothing inside the
database shows that. What was published before shows it (`seals.published`). Each way is tried by
itself; one that fails is noted, raises an alarm, and is tried again the next hour.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any

import structlog
from django.conf import settings
from django.db import connection

from common import mail
from common.clock import text_of
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.engine.http.addresses import parse_networks
from common.engine.http.client import post_once
from common.engine.http.urls import Policy
from seals.models import PublishedWay, SealPublication, SealRound
from seals.published import RESTORED, SEALED
from webhooks import signing

log = structlog.get_logger(__name__)

# A line names at most so many chains that went on; the round's digest covers all of them.
HEADS_MAX = 1_000
KEPT_FOR = timedelta(days=90)
# The operator named the address, so any network will do.
_ANYWHERE = parse_networks(("0.0.0.0/0", "::/0"))
_TEMPLATE = "seal_published"

# One more than a line names, to know whether there are more.
_HEADS = """
SELECT DISTINCT ON (chain) chain, number, mac FROM seals_seal
WHERE round_id > %(after)s AND round_id <= %(upto)s
ORDER BY chain, number DESC LIMIT %(limit)s
"""


class NotTaken(Exception):
    """The receiver did not accept the line. The text says why, without any secret."""


def ways() -> list[PublishedWay]:
    """The ways to publish that the settings name."""
    given = {
        PublishedWay.FILE: settings.SEAL_FILE,
        PublishedWay.WEBHOOK: settings.SEAL_WEBHOOK_URL,
        PublishedWay.MAIL: settings.SEAL_MAIL_TO,
    }
    return [way for way, where in given.items() if where]


@by(AUDIT)
def publish(*, now: datetime) -> int:
    """Publish by every way; returns how many accepted the line. Must not run in a transaction."""
    last = SealRound.objects.order_by("-number").first()
    if last is None:
        return 0
    taken = sum(_try(way, _line(last, way, now), last.number, now) for way in ways())
    SealPublication.objects.filter(at__lt=now - KEPT_FOR).delete()
    return taken


@by(AUDIT)
def publish_restored(*, reason: str, now: datetime) -> int:
    """Publish that the database was restored on purpose and where its chains end now.

    Earlier lines about later rounds no longer count. Returns how many ways accepted it.
    """
    last = SealRound.objects.order_by("-number").first()
    line = {
        "kind": RESTORED,
        "round": last.number if last else 0,
        "mac": last.mac if last else "",
        "reason": reason,
        "publishedAt": text_of(now),
    }
    return sum(_try(way, line, last.number if last else 0, now) for way in ways())


def _try(way: PublishedWay, line: dict[str, Any], number: int, now: datetime) -> bool:
    error = ""
    try:
        _SEND[way](line, now)
    except (NotTaken, OSError, SMTPException) as failure:
        error = f"{type(failure).__name__}: {failure}"[:200]
        log.error("seal_not_published", way=str(way), round=number, error=error)
    SealPublication.objects.create(round_number=number, way=way, at=now, error=error)
    return not error


def _line(last: SealRound, way: PublishedWay, now: datetime) -> dict[str, Any]:
    """How far the chains go, and which ones went on since this way last accepted a line."""
    taken = SealPublication.objects.filter(way=way, error="", round_number__lte=last.number)
    before = taken.order_by("-at").values_list("round_number", flat=True).first() or 0
    with connection.cursor() as cursor:
        values = {"after": before, "upto": last.number, "limit": HEADS_MAX + 1}
        cursor.execute(_HEADS, values)
        heads = cursor.fetchall()
    return {
        "kind": SEALED,
        "round": last.number,
        "mac": last.mac,
        "keyId": last.key_id,
        "sealedAt": text_of(last.made_at),
        "publishedAt": text_of(now),
        "chains": last.chains,
        "heads": {chain: [number, mac] for chain, number, mac in heads[:HEADS_MAX]},
        "hasMoreHeads": len(heads) > HEADS_MAX,
    }


def _to_file(line: dict[str, Any], now: datetime) -> None:
    """Append in one write, and return once it is on disk."""
    data = _bytes(line) + b"\n"
    handle = os.open(settings.SEAL_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    try:
        if os.write(handle, data) != len(data):
            raise NotTaken("only a part of the line was written")
        os.fsync(handle)
    finally:
        os.close(handle)


def _to_webhook(line: dict[str, Any], now: datetime) -> None:
    body = _bytes(line)
    signature = signing.headers(
        event_id=f"seal_{line['round']}_{int(now.timestamp())}",
        body=body,
        secret=settings.SEAL_WEBHOOK_SECRET,
        previous_secret=None,
        now=now,
    )
    answer = post_once(
        Policy(allowed_networks=_ANYWHERE),
        settings.SEAL_WEBHOOK_URL,
        body=body,
        headers={"Content-Type": "application/json", **signature},
        allow_http=True,
    )
    if not answer.is_success:
        raise NotTaken(f"answer {answer.status}" if answer.status else str(answer.failure))


def _to_mail(line: dict[str, Any], now: datetime) -> None:
    context = {"line": line, "text": _bytes({**line, "heads": {}}).decode()}
    mail.send(template=_TEMPLATE, to=settings.SEAL_MAIL_TO, context=context)


def _bytes(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode("ascii")


_SEND: dict[PublishedWay, Callable[[dict[str, Any], datetime], None]] = {
    PublishedWay.FILE: _to_file,
    PublishedWay.WEBHOOK: _to_webhook,
    PublishedWay.MAIL: _to_mail,
}
