"""Celery (measured reasons: docs/decisions/)."""

from __future__ import annotations

import ssl

from config.beat import SCHEDULE, hurried
from config.env import broker_url
from config.settings.deployment import RUN_DIR
from config.settings.networks import ACH_BANK_CLOCK
from config.settings.valkey import REDIS_URL
from config.work_queues import QUEUES, ROUTES

CELERY_BROKER_URL = broker_url(REDIS_URL)
if CELERY_BROKER_URL.startswith("rediss:"):  # without a word kombu asks for no certificate
    CELERY_BROKER_USE_SSL = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_VISIBILITY_TIMEOUT = 180
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_VISIBILITY_TIMEOUT,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 1,
    "socket_timeout": 5,
    "global_keyprefix": "ballast:",
}
CELERY_TASK_QUEUES = QUEUES
CELERY_TASK_ROUTES = ROUTES
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = hurried(SCHEDULE) if ACH_BANK_CLOCK else SCHEDULE
CELERY_BEAT_SCHEDULER = "config.beat_scheduler:ClockedScheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(RUN_DIR / "celerybeat-schedule")
