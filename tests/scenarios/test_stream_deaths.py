"""SIGKILL to the receiver of the audit log and to the worker that sends it on: each line arrives at
least once, and in order."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import timedelta
from functools import partial

import pytest

from common import ids
from common.clock import utc_now
from seals.models import AuditStream
from tenants.models import ActorType, AuditEvent
from tests.common.engine.test_http_client import certificate
from tests.database import owner
from tests.scenarios.product import wait_until
from tests.servers import free_port

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

LINES, KILLS = 12_000, 3
OFTEN = {"seconds": 120, "every": 0.01}
PATHS = {"https": "https://127.0.0.1:{}/audit", "syslog": "syslog+tls://127.0.0.1:{}"}


class Running:
    """A process of ours that is started again after each kill."""

    def __init__(self, *arguments, **variables):
        self._command = [sys.executable, "-m", *arguments]
        self._variables = os.environ | variables
        self.start()

    def start(self):
        self._process = subprocess.Popen(self._command, env=self._variables)

    def kill(self):
        self._process.kill()
        self._process.wait(60)


def lines_of_an_hour_ago(tenant):
    start = utc_now() - timedelta(hours=1)
    rows = [
        AuditEvent(
            pk=ids.lowest("aud", start + timedelta(milliseconds=number)),
            tenant=tenant,
            actor_type=ActorType.SYSTEM,
            action="noted",
            created_at=start,
        )
        for number in range(LINES)
    ]
    AuditEvent.objects.bulk_create(rows, batch_size=2_000)


def hurry():
    """As if the pause until the next look, or after a failure, had passed."""
    AuditStream.objects.filter(leased_until=None).update(next_attempt_at=utc_now())


@pytest.mark.parametrize("kind", ["https", "syslog"])
def test_each_line_arrives_whoever_dies(acme, tmp_path, kind):
    lines_of_an_hour_ago(acme)
    wanted = list(AuditEvent.objects.order_by("pk").values_list("pk", flat=True)[:LINES])
    pem, kept, port = certificate(tmp_path / "siem.pem"), tmp_path / "kept", free_port()

    def got():
        whole = [line for line in _lines(kept) if line.endswith(b"\n")]
        return [line.split(b'"')[3].decode() for line in whole]

    def has(count):
        hurry()
        return len(set(got())) >= count

    receiver = Running("tests.scenarios.receiving", kind, str(port), str(pem), str(kept))
    worker = Running(
        "tests.scenarios.streamer",
        DATABASE_URL=owner.address(),
        DJANGO_SETTINGS_MODULE="config.settings",
        AUDIT_STREAM_URL=PATHS[kind].format(port),
        SSL_CERT_FILE=str(pem),
    )
    try:
        for victim in [receiver, worker] * KILLS:
            more = min(len(set(got())) + random.randint(1, LINES // KILLS // 4), LINES - 1)
            wait_until(partial(has, more), **OFTEN)
            victim.kill()
            if victim is worker:
                AuditStream.objects.update(leased_until=None)  # as if its lease had ended
            victim.start()
        wait_until(partial(has, LINES), **OFTEN)
    finally:
        worker.kill()
        receiver.kill()

    arrived = got()
    assert list(dict.fromkeys(arrived))[:LINES] == wanted  # each, for the first time in order
    back = [place for place, row in enumerate(arrived) if place and row < arrived[place - 1]]
    assert len(back) <= 2 * KILLS  # only a death repeats lines


def _lines(file):
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []
