"""The stand-in bank and operator, the webhook receiver and the product's own processes: what
`./run up` starts beside the servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from devstack.paths import ROOT, Profile
from devstack.processes import Program

WEB_PROCESSES = 2
WEB_THREADS = 4
WORKER_PROCESSES = 2
CELERY = ["-m", "celery", "--quiet", "-A", "config"]
# Of a new bank; `ctl terms` changes them. A banking day takes seconds while something waits, and a
# late return comes soon after the money could be used, not after 60 days.
BANK_TERMS = ("day_seconds=5", "late_return_days=8")
# Of a new operator: what lies there is brought in by name, and there is a statement at once.
OPERATOR_TERMS = ("opening_position=0", "days_before=1")
# In a container everything runs as root; saying so at each start helps nobody.
QUIET = {"PYTHONWARNINGS": "ignore:You're running the worker:UserWarning"}


def of_product(
    profile: Profile,
    port: int,
    environment: Mapping[str, str],
    *,
    workers: int = WORKER_PROCESSES,
) -> list[Program]:
    """Web on the loopback address only, Celery worker and beat, the webhook dispatcher."""
    return [
        _program("web", _web(port), environment, stop_seconds=10),
        _program("worker", _worker(workers), {**QUIET, **environment}, stop_seconds=20),
        _program("beat", _beat(profile), environment, stop_seconds=10),
        _program("dispatcher", ["manage.py", "dispatch_webhooks"], environment, stop_seconds=20),
    ]


def bank(profile: Profile) -> Program:
    """The bank that the product sends its files to."""
    profile.bank_connection.unlink(missing_ok=True)  # of the last run: it says so once it listens
    return _program("bank", _bank(profile), os.environ, stop_seconds=5)


def operator(profile: Profile) -> Program:
    """The operator of instant payments, and the page of the payer's bank."""
    profile.operator_connection.unlink(missing_ok=True)  # of the last run
    options = [f"--home={profile.operator}", f"--control={profile.operator_socket}"]
    terms = (f"--term={each}" for each in OPERATOR_TERMS)
    command = ["-m", "devstack.instant", "serve", *options, *terms]
    return _program("operator", command, os.environ, stop_seconds=5)


def receiver(profile: Profile) -> Program:
    """Where the demo tenant's events go. It says so once it listens, at the port of before."""
    profile.receiver_connection.unlink(missing_ok=True)  # of the last run
    command = ["-m", "devstack.receiver", f"--home={profile.receiver}"]
    return _program("receiver", command, os.environ, stop_seconds=5)


def manage(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def _program(
    name: str, arguments: list[str], environment: Mapping[str, str], *, stop_seconds: float
) -> Program:
    return Program(
        name=name,
        command=[sys.executable, *arguments],
        environment=environment,
        folder=ROOT,
        stop_seconds=stop_seconds,
    )


def _web(port: int) -> list[str]:
    return [
        "-m",
        "gunicorn",
        "config.wsgi:application",
        "--config=config/gunicorn.py",
        f"--bind=127.0.0.1:{port}",
        f"--workers={WEB_PROCESSES}",
        f"--threads={WEB_THREADS}",
    ]


def _worker(processes: int) -> list[str]:
    options = [f"--concurrency={processes}", "--loglevel=INFO"]
    return [*CELERY, "worker", "--without-gossip", "--without-mingle", *options]


def _beat(profile: Profile) -> list[str]:
    options = [f"--schedule={profile.home / 'celerybeat-schedule'}", "--pidfile="]
    return [*CELERY, "beat", "--loglevel=WARNING", *options]


def _bank(profile: Profile) -> list[str]:
    options = [f"--home={profile.bank}", f"--control={profile.bank_socket}"]
    return ["-m", "devstack.odfi", "serve", *options, *(f"--term={each}" for each in BANK_TERMS)]
