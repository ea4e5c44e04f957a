"""The Celery application. Tasks only wake workers up; the rows in PostgreSQL are the work."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import structlog
from celery import Celery
from celery.signals import beat_init, setup_logging, task_postrun, task_prerun, worker_init
from django.core.exceptions import ImproperlyConfigured
from django_structlog.celery.steps import DjangoStructLogInitStep

from common import ticks
from common.clock import utc_now
from common.database import job_doors, jobs, roles
from config.worker import CrashOnlyWorker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class BallastCelery(Celery):
    """Celery with a worker that ends on an error from which it cannot recover."""

    @cached_property
    def Worker(self) -> type[CrashOnlyWorker]:
        """The worker class to run, where Celery looks for it."""
        return self.subclass_with_self(CrashOnlyWorker)


app = BallastCelery("ballast", task_cls="config.worker:ClockedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(DjangoStructLogInitStep)


@setup_logging.connect
def _use_django_logging(**_kwargs: object) -> None:
    """Keep Django's structured log configuration in the worker and beat."""
    structlog.get_logger(__name__).debug("celery_logging_ready")


@beat_init.connect
@worker_init.connect
def _work_as_worker(**_kwargs: object) -> None:
    """Before anything connects. Processes and threads that the worker starts follow."""
    job_doors.become(jobs.WORKER)


@worker_init.connect
def _look_at_the_role(**_kwargs: object) -> None:
    """Check the database role. Exits the process itself, because Celery would log any other
    exception of a handler and start all the same."""
    try:
        roles.refuse_to_start()
    except ImproperlyConfigured as problem:
        raise SystemExit(str(problem)) from problem


@task_prerun.connect
def _note_start(task: Any, **_kwargs: object) -> None:
    task.request.started_at = utc_now()


@task_postrun.connect
def _note_run(task: Any, state: str, **_kwargs: object) -> None:
    """Record for the desk when each task last ran, and how."""
    now = utc_now()
    started_at = getattr(task.request, "started_at", None) or now
    seconds = (now - started_at).total_seconds()
    ticks.note(task=task.name, at=now, seconds=seconds, ok=state == "SUCCESS")
