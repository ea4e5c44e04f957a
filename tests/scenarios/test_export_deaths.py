"""SIGKILL to `manage.py export_audit` while others write: who goes on after the last whole line
that they have gets every line once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from common import ids
from common.clock import utc_now
from devstack.paths import ROOT
from seals.windows import SETTLED_AFTER
from tenants.models import ActorType, AuditEvent
from tests.database import owner

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

OLD, KILLS, WRITERS = 2_500, 5, 2
# As late as a process may date its rows: the export reaches them while transactions still run.
BACK = SETTLED_AFTER - timedelta(seconds=1)
_INSERT = """
INSERT INTO tenants_auditevent (id, tenant_id, actor_type, actor_id, action, subject_id, details,
    request_id, staff_note, address, created_at)
VALUES (%s, %s, 'system', '', 'noted', '', '{}', '', '', '', %s)
"""


class Export:
    """The lines that somebody has, who runs the command again whenever it died."""

    def __init__(self):
        self.lines = []

    def run(self, *, kill_after=None):
        """Run until it ends, or until `kill_after` more lines came; returns its exit status."""
        after = ["--after", self.last_id()] if self.lines else []
        process = subprocess.Popen(
            [sys.executable, "manage.py", "export_audit", *after],
            env=os.environ
            | {"DATABASE_URL": owner.address(), "DJANGO_SETTINGS_MODULE": "config.settings"},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        output, read = process.stdout, 0
        assert output is not None
        with output:
            while kill_after is None or read < kill_after:
                line = output.readline()
                if not line.endswith(b"\n"):  # the end, or half a line of one that died
                    break
                self.lines.append(line)
                read += 1
            if kill_after is not None:
                process.send_signal(signal.SIGKILL)
                rest = output.read().splitlines(keepends=True)
                self.lines += [line for line in rest if line.endswith(b"\n")]
        return process.wait(60)

    def last_id(self):
        return self.ids()[-1]

    def ids(self):
        return [line.split(b'"')[3].decode() for line in self.lines]


def _id_of(moment):
    """A new id as a process makes it that dates a row at `moment`."""
    return ids.lowest("aud", moment)[:-14] + ids.new("aud")[-14:]


class Writer(threading.Thread):
    """Writes lines as the product does: in transactions of some length, dated as far back as the
    rule of `seals.windows` allows."""

    def __init__(self, tenant_id, seed):
        super().__init__(daemon=True)
        self.written, self.ended = 0, threading.Event()
        self._tenant_id, self._random, self._address = (
            tenant_id,
            random.Random(seed),
            owner.address(),
        )

    def run(self):
        with closing(psycopg.connect(self._address)) as connection:
            while not self.ended.is_set():
                with connection.transaction():
                    connection.execute("SELECT 1")
                    dated = utc_now() - BACK
                    for _ in range(self._random.randint(1, 5)):
                        connection.execute(_INSERT, (_id_of(dated), self._tenant_id, dated))
                        self.written += 1
                    time.sleep(self._random.random() / 2)


def test_every_line_comes_once_whenever_it_dies(acme):
    start = utc_now() - timedelta(hours=1)
    AuditEvent.objects.bulk_create(
        AuditEvent(
            pk=ids.lowest("aud", start + timedelta(milliseconds=number)),
            tenant=acme,
            actor_type=ActorType.SYSTEM,
            action="noted",
            created_at=start,
        )
        for number in range(OLD)
    )
    writers = [Writer(acme.pk, seed) for seed in range(WRITERS)]
    for writer in writers:
        writer.start()
    export = Export()

    statuses = [export.run(kill_after=random.randint(0, OLD // KILLS)) for _ in range(KILLS)]
    assert export.run() in (0, 1)  # beside writers; 1: "try again"
    for writer in writers:
        writer.ended.set()
        writer.join(30)
    time.sleep(2)  # until the last of theirs is older than the rule asks
    assert export.run() == 0

    assert -signal.SIGKILL in statuses
    young = AuditEvent.objects.filter(pk__gte=ids.lowest("aud", utc_now() - SETTLED_AFTER))
    there = AuditEvent.objects.exclude(pk__in=young.values("pk")).order_by("pk")
    assert sum(writer.written for writer in writers) > 20
    assert export.ids() == list(there.values_list("pk", flat=True))
    assert len(export.lines) >= OLD + sum(writer.written for writer in writers)
