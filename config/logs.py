"""Structured logs: JSON lines in production, readable lines in development. Times are UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

from common.redaction import REDACTED, clean_text, without_secrets

# Members that must never be written, whatever logs them.
_SECRET_NAMES = re.compile(
    r"account_?number|token|secret|password|passwd|authorization|api_?key$|cookie", re.IGNORECASE
)
# Members that hold references, not bank details, whatever their digits look like.
_REFERENCE_NAMES = re.compile(r"(^|_)id$|^timestamp$|^trace_number$")
_DEPTH_MAX = 6


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out keys, secrets, magic and reset links and account numbers, by name and by shape."""
    return {name: _redacted(name, value, depth=0) for name, value in event.items()}


def _redacted(name: str, value: Any, *, depth: int) -> Any:
    is_secret, is_reference = _judged(name)
    if is_secret:
        return REDACTED
    if isinstance(value, str):
        return without_secrets(value) if is_reference else clean_text(value)
    if depth >= _DEPTH_MAX:
        return REDACTED
    if isinstance(value, Mapping):
        return {key: _redacted(str(key), item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted("", item, depth=depth + 1) for item in value]
    if value is None or isinstance(value, int | float):
        return value
    return clean_text(str(value))


@lru_cache(maxsize=1000)
def _judged(name: str) -> tuple[bool, bool]:
    """Whether a member of this name is secret, and whether it holds a reference."""
    return bool(_SECRET_NAMES.search(name)), bool(_REFERENCE_NAMES.search(name))


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
            # A line for every tick of every sweep would hide the lines that matter.
            "django_structlog.celery": {"level": "WARNING"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},  # a 400 in request_finished
            "django.request": {"level": "CRITICAL"},  # django_structlog writes request and error
            "django_structlog": {"level": "INFO"},
            "kombu": {"level": "WARNING"},
            "celery.app.trace": {"level": "CRITICAL"},  # django_structlog writes task_failed
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.worker.request": {"level": "WARNING"},  # a line per expired tick
            "celery.beat": {"level": "WARNING"},
        },
    }
