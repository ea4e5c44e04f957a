"""A worker that cannot go on ends; one that is asked to stop stops in order."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.celery import app
from config.worker import CrashOnlyWorker

STOP = """
from config.celery import app
from celery.signals import worker_shutdown
worker = app.Worker(pool="solo")
worker_shutdown.connect(lambda **_: print("in order"), weak=False)
worker.stop(exitcode={exitcode})
"""


def stopped_with(exitcode: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", STOP.format(exitcode=exitcode)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_is_the_worker_that_celery_starts():
    assert issubclass(app.Worker, CrashOnlyWorker)


@pytest.mark.slow
@pytest.mark.parametrize(("exitcode", "status", "output"), [(1, 1, ""), (0, 0, "in order\n")])
def test_ends_at_once_only_after_a_failure(exitcode, status, output):
    ended = stopped_with(exitcode)

    assert (ended.returncode, ended.stdout) == (status, output)
