"""Structured logs: JSON lines in production, readable lines in development. Times are UTC."""

from __future__ import annotations

import re
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

# Members that must never be written, whoever logs them.
_SECRET_NAMES = re.compile(
    r"account_?number|token|secret|password|authorization|api_?key$|cookie", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"bal_(?:test|live)_[0-9A-Za-z]+|whsec_[0-9A-Za-z+/=]+"
    r"|(?<=/confirm/)[^/\s]+|(?<=/password/reset/key/)[^/\s]+"
)


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out keys, webhook secrets, magic and reset links, by name and by shape."""
    for name, value in event.items():
        if _SECRET_NAMES.search(name):
            event[name] = "[redacted]"
        elif isinstance(value, str):
            event[name] = _SECRET_TEXT.sub("[redacted]", value)
    return event


def logging_config(*, json_lines: bool) -> dict[str, Any]:
    """The `LOGGING` setting."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if json_lines
        else structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    redact,
                    renderer,
                ],
                "foreign_pre_chain": [
                    structlog.contextvars.merge_contextvars,
                    structlog.processors.TimeStamper(fmt="iso", utc=True),
                    structlog.stdlib.add_logger_name,
                    structlog.stdlib.add_log_level,
                    structlog.processors.format_exc_info,
                ],
            }
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "structured"},
        },
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            "django.server": {"level": "WARNING"},
            "django.request": {"level": "ERROR"},
            # A line for every tick of every sweep would drown what matters.
            "django_structlog.celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
        },
    }
