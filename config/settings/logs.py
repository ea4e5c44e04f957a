"""What is logged, and how a line looks."""

from __future__ import annotations

import logging

import structlog

from config.env import flag
from config.logs import logging_config
from config.settings.deployment import DEBUG

DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_CELERY_TASK_RETRY_LOG_LEVEL = logging.DEBUG  # also a line per expired tick
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # of streams: one line is enough
LOGGING = logging_config(json_lines=flag("LOG_JSON", default=not DEBUG))
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.filter_by_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.format_exc_info,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
